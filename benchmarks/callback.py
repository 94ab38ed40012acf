"""What the diagnosis callback costs a training of Stable-Baselines3.

    python benchmarks/callback.py [--steps N] [--pairs N] [--share S]

PPO on CartPole is trained with and without the callback, in turns, on one thread; the table shows the processor time of
both and of what the callback itself measured. CartPole is the hard case: hardly any training has cheaper steps. Needs
Stable-Baselines3 (``make frameworks`` installs it into ``.venv-frameworks``).
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any


def main() -> int:
    """Train, compare, print; always 0."""
    parser = argparse.ArgumentParser(description="Cost of the diagnosis callback in a training of Stable-Baselines3.")
    parser.add_argument("--steps", type=int, default=200_000, metavar="N", help="steps a training (default: 200,000)")
    parser.add_argument("--pairs", type=int, default=3, metavar="N", help="trainings of each kind (default: 3)")
    parser.add_argument("--share", type=float, default=0.01, metavar="S", help="the callback's share (default: 0.01)")
    options = parser.parse_args()
    ratios, own, looks = [], [], []
    for pair in range(options.pairs):
        bare, _ = _train(options.steps, pair, None)
        callback = _callback(options.share)
        watched, elapsed = _train(options.steps, pair, callback)
        ratios.append(watched / bare)
        own.append(callback.watcher.spent / elapsed)
        looks.append(callback.watcher.looks)
        print(f"pair {pair + 1}: {bare:.1f} s without, {watched:.1f} s with, own time {own[-1]:.2%}, {looks[-1]} looks")
    print(f"with / without (processor time, median): {statistics.median(ratios):.3f}")
    print(f"the callback's own part of the training time: median {statistics.median(own):.2%}, most {max(own):.2%}")
    return 0


def _callback(share: float) -> Any:
    from rl_diagnose.callbacks.sb3 import DiagnosisCallback

    return DiagnosisCallback(share=share)


def _train(steps: int, seed: int, callback: Any) -> tuple[float, float]:
    """Processor and wall seconds of one training."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", n_envs=8, seed=seed), n_steps=256, seed=seed, device="cpu")
    begun, begun_cpu = time.perf_counter(), time.process_time()
    model.learn(steps, log_interval=1, callback=callback)
    return time.process_time() - begun_cpu, time.perf_counter() - begun


if __name__ == "__main__":
    raise SystemExit(main())
