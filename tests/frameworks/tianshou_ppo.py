"""A tiny agent of Tianshou, trained with whatever logger a test wants to see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["train_ppo"]


def train_ppo(logger: Any, *, stop_fn: Callable[[float], bool] | None = None, epochs: int = 3) -> None:
    """Train PPO on CartPole with Tianshou, `epochs` × 1024 steps, and what it logs given to `logger`."""
    import gymnasium
    import torch
    from tianshou.algorithm import PPO
    from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.trainer import OnPolicyTrainerParams
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
    from torch.distributions import Categorical

    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - Tianshou draws from numpy's global generator
    env = gymnasium.make("CartPole-v1")
    shape, actions = env.observation_space.shape, env.action_space

    def net() -> Any:
        return Net(state_shape=shape, hidden_sizes=[16])

    actor = DiscreteActor(preprocess_net=net(), action_shape=actions.n, softmax_output=False)
    policy = ProbabilisticActorPolicy(
        actor=actor, dist_fn=lambda logits: Categorical(logits=logits), action_space=actions, action_scaling=False
    )
    algorithm = PPO(policy=policy, critic=DiscreteCritic(preprocess_net=net()), optim=AdamOptimizerFactory(lr=1e-3))
    train, test = (DummyVectorEnv([lambda: gymnasium.make("CartPole-v1") for _ in range(4)]) for _ in range(2))
    algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=Collector(algorithm, train, VectorReplayBuffer(4000, 4), exploration_noise=True),
            test_collector=Collector(algorithm, test),
            max_epochs=epochs,
            epoch_num_steps=1024,
            collection_step_num_env_steps=512,
            update_step_num_repetitions=2,
            batch_size=64,
            test_step_num_episodes=4,
            logger=logger,
            stop_fn=stop_fn,
            verbose=False,
            show_progress=False,
        )
    )
