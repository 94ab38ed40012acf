"""The code that remedies print works with Tianshou: what it sets exists, and training reads it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou")

from .patches import Shown, Watch, assigned, is_constructor, run, shown

ON_POLICY = {"ppo": "PPO", "a2c": "A2C", "trpo": "TRPO"}
VALUE_BASED = {"dqn": "DQN", "qrdqn": "QRDQN"}
ACTOR_CRITIC = {"sac": "SAC", "td3": "TD3", "ddpg": "DDPG", "discrete_sac": "DiscreteSAC"}
TRAINED = {**ON_POLICY, **VALUE_BASED, **ACTOR_CRITIC}
# Their networks take more to build; what they read is looked up in the code of the class and those it inherits from.
LOOKED_UP = {"c51": "C51", "rainbow": "RainbowDQN", "iqn": "IQN", "fqf": "FQF", "redq": "REDQ"}
POLICIES = {"c51": "C51Policy", "rainbow": "C51Policy", "iqn": "IQNPolicy", "fqf": "FQFPolicy"}
SMALL = {"batch_size": 16, "epoch_num_steps": 64, "collection_step_num_env_steps": 32, "max_epochs": 1}


def names() -> dict[str, Any]:
    """What a script that uses Tianshou has imported."""
    from tianshou import algorithm
    from tianshou.algorithm.modelfree.sac import AutoAlpha
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import VectorReplayBuffer
    from tianshou.exploration import GaussianNoise
    from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
    from tianshou.utils.net.common import Net

    own = (AdamOptimizerFactory, AutoAlpha, GaussianNoise, Net, OffPolicyTrainerParams, OnPolicyTrainerParams)
    classes = {name: getattr(algorithm, name) for name in [*TRAINED.values(), *LOOKED_UP.values()]}
    return {**classes, **{one.__name__: one for one in own}, "VectorReplayBuffer": VectorReplayBuffer, "np": np}


def environment(algorithm: str) -> Any:
    import gymnasium

    return gymnasium.make("Pendulum-v1" if algorithm in {"sac", "td3", "ddpg"} else "CartPole-v1")


def arguments(algorithm: str, space: dict[str, Any], optim: Any = None) -> dict[str, Any]:
    """The arguments that a user gives to the class: policy, critic and optimisers."""
    from tianshou.algorithm.modelfree.ddpg import ContinuousDeterministicPolicy
    from tianshou.algorithm.modelfree.discrete_sac import DiscreteSACPolicy
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.modelfree.qrdqn import QRDQNPolicy
    from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
    from tianshou.algorithm.modelfree.sac import SACPolicy
    from tianshou.utils.net import continuous
    from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
    from torch.distributions import Categorical

    env = environment(algorithm)
    shape, actions = env.observation_space.shape, env.action_space
    rate = optim or space["AdamOptimizerFactory"](lr=1e-3)

    def net(**more: Any) -> Any:
        return space["Net"](state_shape=shape, hidden_sizes=[16], **more)

    if algorithm in VALUE_BASED:
        kind, atoms = (QRDQNPolicy, 8) if algorithm == "qrdqn" else (DiscreteQLearningPolicy, 1)
        model = net(action_shape=actions.n, num_atoms=atoms)
        more = {"num_quantiles": 8} if algorithm == "qrdqn" else {}
        return {"policy": kind(model=model, action_space=actions), "optim": rate, "target_update_freq": 10, **more}
    if algorithm in {*ON_POLICY, "discrete_sac"}:
        actor = DiscreteActor(preprocess_net=net(), action_shape=actions.n, softmax_output=False)
        if algorithm == "discrete_sac":
            critic = DiscreteCritic(preprocess_net=net(), last_size=int(actions.n))
            policy = DiscreteSACPolicy(actor=actor, action_space=actions)
            return {"policy": policy, "policy_optim": rate, "critic": critic, "critic_optim": rate}
        policy = ProbabilisticActorPolicy(
            actor=actor, dist_fn=lambda logits: Categorical(logits=logits), action_space=actions, action_scaling=False
        )
        return {"policy": policy, "critic": DiscreteCritic(preprocess_net=net()), "optim": rate}
    critic = continuous.ContinuousCritic(preprocess_net=net(action_shape=actions.shape, concat=True))
    if algorithm == "sac":
        actor = continuous.ContinuousActorProbabilistic(
            preprocess_net=net(), action_shape=actions.shape, unbounded=True
        )
        policy = SACPolicy(actor=actor, action_space=actions)
    else:
        actor = continuous.ContinuousActorDeterministic(preprocess_net=net(), action_shape=actions.shape)
        policy = ContinuousDeterministicPolicy(actor=actor, action_space=actions)
    return {"policy": policy, "policy_optim": rate, "critic": critic, "critic_optim": rate}


def training(algorithm: str, learner: Any, space: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a user gives to the trainer."""
    from tianshou.data import Collector
    from tianshou.env import DummyVectorEnv

    envs = DummyVectorEnv([lambda: environment(algorithm) for _ in range(2)])
    collector = Collector(learner, envs, space["VectorReplayBuffer"](1000, 2), exploration_noise=True)
    quiet = {"test_collector": None, "verbose": False, "show_progress": False}
    return {"training_collector": collector, **quiet, **SMALL}


def train(algorithm: str, learner: Any, space: dict[str, Any]) -> None:
    given = training(algorithm, learner, space)
    if algorithm in ON_POLICY:
        learner.run_training(space["OnPolicyTrainerParams"](**given, update_step_num_repetitions=1))
    else:
        learner.run_training(space["OffPolicyTrainerParams"](**given))


CODE = shown("tianshou", [*TRAINED, *LOOKED_UP])
SETTING = [one for one in CODE if one.code.startswith("algorithm.")]
MAKING = [one for one in CODE if one not in SETTING]


def ids(codes: list[Shown], algorithms: dict[str, str]) -> list[Any]:
    return [pytest.param(one, id=one.id) for one in codes if one.algorithm in algorithms]


@pytest.mark.parametrize("one", ids(SETTING, TRAINED))
def test_tianshou_reads_what_the_patch_sets(one: Shown) -> None:
    space = names()
    learner = space[TRAINED[one.algorithm]](**arguments(one.algorithm, space))
    space["algorithm"] = learner
    called = re.match(r"algorithm\.policy\.set_(\w+)\(", one.code)
    owner, sets = (learner.policy, {called[1]}) if called else (learner, {name for _, name in assigned(one.code)})
    assert all(hasattr(owner, name) for name in sets), one.code
    run(one.code, space)
    watch = Watch(owner, sets)
    train(one.algorithm, learner, space)
    assert watch.read == sets


@pytest.mark.parametrize("one", ids(SETTING, LOOKED_UP))
def test_tianshou_classes_read_what_the_patch_sets(one: Shown) -> None:
    kind = names()[LOOKED_UP[one.algorithm]]
    called = re.match(r"algorithm\.policy\.(set_\w+)\(", one.code)
    if called:
        assert hasattr(getattr(inspect.getmodule(kind), POLICIES[one.algorithm]), called[1])
        return
    code = "".join(inspect.getsource(base) for base in kind.__mro__ if base.__module__.startswith("tianshou"))
    for _, name in assigned(one.code):
        assert re.search(rf"self\.{name}\b(?! =)", code), f"{kind.__name__} never reads {name}"


@pytest.mark.parametrize("one", ids(MAKING, TRAINED))
def test_tianshou_trains_with_what_the_patch_makes(one: Shown) -> None:
    space = names()
    env = environment(one.algorithm)
    space |= {"env": env, "n_envs": 2, "n_actions": 2, "action_shape": env.action_space.shape}
    code, kind = one.code, space[TRAINED[one.algorithm]]
    given = arguments(one.algorithm, space)
    if "TrainerParams" in code:
        space["algorithm"] = learner = kind(**given)
        space["arguments"] = training(one.algorithm, learner, space)
        learner.run_training(run(code.replace("(...,", "(**arguments,"), space))
        if "training_fn" in code:
            assert learner.ent_coef == pytest.approx(0.01, rel=1e-2)
        return
    if is_constructor(code):
        space["arguments"] = given
        automatic = "AutoAlpha(target_entropy=-1.0, log_alpha=0.0, optim=AdamOptimizerFactory(lr=3e-4))"
        learner = run(code.replace("AutoAlpha(...)", automatic).replace("(...,", "(**arguments,"), space)
        assert type(learner) is kind
        train(one.algorithm, learner, space)
        return
    made = run(code, space)
    if code.startswith("AdamOptimizerFactory("):
        train(one.algorithm, kind(**arguments(one.algorithm, space, optim=made)), space)
    elif code.startswith("AutoAlpha("):
        train(one.algorithm, kind(**given, alpha=made), space)
    elif code.startswith("VectorReplayBuffer("):
        assert made.maxsize == pytest.approx(one.value, rel=0.01)
    else:
        assert made.get_output_dim() == one.value


@pytest.mark.parametrize("one", ids(MAKING, LOOKED_UP))
def test_tianshou_takes_the_arguments_that_patches_name(one: Shown) -> None:
    space = names()
    for name, word in re.findall(r"\b([A-Z]\w+)\((?:\.\.\., )?([a-z_]+)=", one.code):
        assert word in inspect.signature(space[name]).parameters, one.code


def test_every_kind_of_code_for_tianshou_is_tested() -> None:
    assert {one.algorithm for one in CODE} == {*TRAINED, *LOOKED_UP}
    assert min(len(SETTING), len(MAKING)) >= 10
