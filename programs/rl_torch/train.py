"""Proximal policy optimisation with PyTorch, on 16 carts with poles that are moved as tensors."""

import sys

import torch
from rl_phase import begin, end

CARTS, STEPS, EPOCHS, PARTS = 16, 128, 4, 4
DISCOUNT, LAMBDA, CLIP = 0.99, 0.95, 0.2


class Policy(torch.nn.Module):
    """An actor and a critic, of two layers each."""

    def __init__(self):
        super().__init__()

        def layers(out):
            return torch.nn.Sequential(
                torch.nn.Linear(4, 64),
                torch.nn.Tanh(),
                torch.nn.Linear(64, 64),
                torch.nn.Tanh(),
                torch.nn.Linear(64, out),
            )

        self.actor, self.critic = layers(2), layers(1)


def moved(state, action):
    """The next state of each cart, and whether its pole has fallen."""
    place, speed, angle, turn = state.unbind(1)
    force = torch.where(action == 1, 10.0, -10.0)
    sine, cosine = torch.sin(angle), torch.cos(angle)
    push = (force + 0.05 * turn**2 * sine) / 1.1
    bend = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
    pull = push - 0.05 * bend * cosine / 1.1
    parts = [place + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * turn, turn + 0.02 * bend]
    state = torch.stack(parts, 1)
    return state, (state[:, 0].abs() > 2.4) | (state[:, 2].abs() > 0.2095)


def fresh(count):
    return torch.rand(count, 4) * 0.1 - 0.05


def played(policy, state):
    """A rollout of STEPS steps."""
    rows = []
    with torch.no_grad():
        for _ in range(STEPS):
            chances = torch.distributions.Categorical(logits=policy.actor(state))
            action = chances.sample()
            value = policy.critic(state).squeeze(1)
            after, fallen = moved(state, action)
            rows.append((state, action, chances.log_prob(action), value, fallen.float()))
            state = torch.where(fallen.unsqueeze(1), fresh(CARTS), after)
        last = policy.critic(state).squeeze(1)
    return state, [torch.stack(each) for each in zip(*rows, strict=True)], last


def gains(values, fallen, last):
    """Generalised advantage estimates."""
    found, running, following = torch.zeros_like(values), torch.zeros(CARTS), last
    for i in reversed(range(STEPS)):
        lives = 1 - fallen[i]
        running = 1 + DISCOUNT * following * lives - values[i] + DISCOUNT * LAMBDA * lives * running
        found[i], following = running, values[i]
    return found


def learned(policy, optimiser, rollout, last):
    states, actions, before, values, fallen = rollout
    advantages = gains(values, fallen, last)
    targets = (advantages + values).flatten()
    advantages = advantages.flatten()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    states, actions, before = states.flatten(0, 1), actions.flatten(), before.flatten()
    for _ in range(EPOCHS):
        for part in torch.randperm(len(states)).chunk(PARTS):
            chances = torch.distributions.Categorical(logits=policy.actor(states[part]))
            ratio = (chances.log_prob(actions[part]) - before[part]).exp()
            gain = advantages[part]
            limited = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
            error = (policy.critic(states[part]).squeeze(1) - targets[part]) ** 2
            loss = error.mean() * 0.5 - limited.mean() - 0.01 * chances.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimiser.step()


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    policy = Policy()
    optimiser = torch.optim.Adam(policy.parameters(), lr=3e-4)
    state, falls = fresh(CARTS), []
    for _ in range(int(sys.argv[1])):
        state, rollout, last = played(policy, state)
        learned(policy, optimiser, rollout, last)
        falls.append(float(rollout[4].mean()))
    print("rollouts", len(falls), "learned", falls[-1] < falls[0] or len(falls) < 5)


begin()
main()
end()
