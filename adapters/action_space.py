"""What the first logged entropy says about the action space, where nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.signals.run import ActionSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["discrete_size", "gaussian_dimensions", "infer_action_space"]

GAUSSIAN_ENTROPY = 0.5 * np.log(2.0 * np.pi * np.e)  # of a unit normal, in nats: 1.4189
_MAX_ACTIONS = 64
_NATS_PER_DIMENSION = 0.03  # how far the first update moves entropy against the logged standard deviation
_NATS = 0.05  # how far the first update moves the entropy of a fresh discrete policy


def discrete_size(entropy: NDArray[np.float64]) -> int | None:
    """Number n of actions of a fresh policy whose first logged entropy lies just below ln n; None when none fits.

    `entropy` holds the first values in order of writing, shape (m,). A fresh policy is nearly uniform, and no policy
    exceeds ln n. What fits must be clearly nearer to ln n than to ln(n − 1). MultiDiscrete and MultiBinary spaces with
    n joint actions have the same largest entropy and cannot be told apart. Values of printed tables have three digits
    and may be rounded to just above ln n.
    """
    finite = entropy[np.isfinite(entropy)]
    if not finite.size or finite[0] <= 0.0:
        return None
    largest = float(finite.max()) - _rounding(finite)
    if largest > np.log(_MAX_ACTIONS + 1):  # also because the exponential of some such values overflows
        return None
    n = int(np.ceil(np.exp(largest) - 1e-3))
    if not 2 <= n <= _MAX_ACTIONS:
        return None
    room = np.log(n) - finite[0]
    return n if room <= min(_NATS, np.log(n / (n - 1)) / 5.0) else None


def _rounding(values: NDArray[np.float64]) -> float:
    """By how much positive `values` may be rounded: half a unit of the third digit where none has more, else 0."""
    unit = 10.0 ** (np.floor(np.log10(values.max())) - 2)
    counts = values / unit
    return 0.5 * float(unit) if np.allclose(counts, np.round(counts), rtol=0.0, atol=1e-6) else 0.0


def gaussian_dimensions(entropy: float, std: float) -> int | None:
    """Dimensions d of a diagonal Gaussian with that entropy and mean standard deviation: H = d·(1.4189 + ln σ).

    None when no whole d fits, for example with state-dependent exploration, or when σ is near 0.242, where H = 0.
    """
    if not (np.isfinite(entropy) and np.isfinite(std) and std > 0.0):
        return None
    per_dimension = GAUSSIAN_ENTROPY + np.log(std)
    if abs(per_dimension) < 2.0 * _NATS_PER_DIMENSION:
        return None
    d = round(float(entropy / per_dimension))
    return d if d >= 1 and abs(entropy - d * per_dimension) <= _NATS_PER_DIMENSION * d else None


def infer_action_space(
    entropy: NDArray[np.float64], std: NDArray[np.float64], *, fresh: bool, gaussian_logs_std: bool
) -> ActionSpace:
    """The action space from the first entropies and standard deviations of a run, in order of writing.

    `fresh` says that the log starts with an untrained policy (otherwise the size is not inferred); `gaussian_logs_std`
    that the framework logs a standard deviation for every Gaussian policy, so that its absence means discrete actions.
    """
    if std.size:
        size = gaussian_dimensions(float(entropy[0]), float(std[0])) if entropy.size and fresh else None
        if size is None:
            return ActionSpace("continuous", origin="log", detail="a standard deviation is logged; dimensions unknown")
        detail = f"the first entropy {entropy[0]:.3f} with the logged σ {std[0]:.3f} fits {size} dimensions"
        return ActionSpace("continuous", size, origin="inferred", detail=detail)
    if (entropy < 0).any():
        return ActionSpace("continuous", origin="inferred", detail="negative entropy: a density; dimensions unknown")
    size = discrete_size(entropy) if fresh else None
    if size is not None:
        detail = f"the first entropy {entropy[0]:.3f} is that of {size} equally likely actions ({np.log(size):.3f})"
        return ActionSpace("discrete", size, origin="inferred", detail=detail)
    if gaussian_logs_std:
        return ActionSpace(
            "discrete", origin="inferred", detail="no standard deviation is logged; number of actions unknown"
        )
    return ActionSpace()
