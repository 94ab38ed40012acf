"""Calibration of probabilities: Platt scaling and the figures that judge it (numpy only).

Platt: P' = σ(a·logit P + b) with a > 0, which keeps the order of the causes. `p` and `y` are arrays of equal shape:
stated probabilities and whether the cause was present (0 or 1); NaN probabilities are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["apply_platt", "brier", "ece", "fit_platt", "log_loss", "reliability_bins"]

# Tighter than any probability that matters, so that the order of causes survives.
_EPSILON = 1e-12


def _logit(p: Floats) -> Floats:
    clipped = np.clip(p, _EPSILON, 1 - _EPSILON)
    result: Floats = np.log(clipped / (1 - clipped))
    return result


def _sigmoid(x: Floats) -> Floats:
    # Beyond ±500 the answer is 0 or 1 to every digit, and exp would overflow soon.
    result: Floats = 1 / (1 + np.exp(-np.clip(x, -500.0, 500.0)))
    return result


def _known(p: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    stated, present = np.asarray(p, dtype=np.float64).ravel(), np.asarray(y, dtype=np.float64).ravel()
    keep = ~np.isnan(stated)
    return stated[keep], present[keep]


def apply_platt(p: Floats, a: float, b: float) -> Floats:
    """σ(a·logit p + b), NaN where `p` is NaN."""
    return np.where(np.isnan(p), np.nan, _sigmoid(a * _logit(p) + b))


def fit_platt(
    p: ArrayLike, y: ArrayLike, *, shrinkage: float = 1.0, iterations: int = 100, fixed_b: float | None = None
) -> tuple[float, float]:
    """(a, b) minimising the log-loss, shrunk toward (1, 0) by a Gaussian prior of precision `shrinkage`.

    Newton's method on two parameters, or on `a` alone where `fixed_b` is given; `a` is kept above 0.01.
    """
    stated, present = _known(p, y)
    x = np.stack([_logit(stated), np.ones_like(stated)], axis=1)
    theta, prior = np.array([1.0, fixed_b or 0.0]), np.array([1.0, 0.0])
    free = np.array([True, fixed_b is None])
    for _ in range(iterations):
        q = _sigmoid(x @ theta)
        gradient = x.T @ (q - present) + shrinkage * (theta - prior)
        hessian = (x * (q * (1 - q))[:, None]).T @ x + shrinkage * np.eye(2)
        step = np.zeros(2)
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        theta = theta - step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        theta[0] = max(theta[0], 0.01)
        if float(np.abs(step).max()) < 1e-9:
            break
    return float(theta[0]), float(theta[1])


def brier(p: ArrayLike, y: ArrayLike) -> float:
    """Mean squared difference between stated probability and truth."""
    stated, present = _known(p, y)
    return float(np.mean((stated - present) ** 2)) if stated.size else float("nan")


def log_loss(p: ArrayLike, y: ArrayLike) -> float:
    """Mean negative log-likelihood in nats."""
    stated, present = _known(p, y)
    if not stated.size:
        return float("nan")
    stated = np.clip(stated, _EPSILON, 1 - _EPSILON)
    return float(-np.mean(present * np.log(stated) + (1 - present) * np.log(1 - stated)))


def reliability_bins(p: ArrayLike, y: ArrayLike, bins: int = 10) -> list[tuple[int, float, float]]:
    """(count, mean stated probability, share present) of bins with equal counts, lowest probabilities first."""
    stated, present = _known(p, y)
    order = np.argsort(stated, kind="stable")
    parts = np.array_split(order, min(bins, max(1, stated.size)))
    return [(int(i.size), float(stated[i].mean()), float(present[i].mean())) for i in parts if i.size]


def ece(p: ArrayLike, y: ArrayLike, bins: int = 10) -> float:
    """Expected calibration error over bins with equal counts."""
    table = reliability_bins(p, y, bins)
    total = sum(n for n, _, _ in table)
    return sum(n * abs(stated - present) for n, stated, present in table) / total if total else float("nan")
