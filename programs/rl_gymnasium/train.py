"""REINFORCE with numpy on CartPole: a policy of two layers learns from whole episodes."""

import sys

import gymnasium
import numpy
from rl_phase import begin, end

HIDDEN, BATCH, RATE, DISCOUNT = 64, 8, 0.02, 0.99


def episode(game, weights, random, seed):
    """Observations, hidden layers, actions and chances of one episode."""
    seen, hidden, acted, chances = [], [], [], []
    observation, _ = game.reset(seed=seed)
    over = False
    while not over:
        layer = numpy.tanh(observation @ weights[0])
        chance = 1.0 / (1.0 + numpy.exp(-layer @ weights[1]))
        action = int(random.random() < chance)
        seen.append(observation)
        hidden.append(layer)
        acted.append(action)
        chances.append(chance)
        observation, _, ended, cut, _ = game.step(action)
        over = ended or cut
    return [numpy.array(each, dtype=numpy.float64) for each in (seen, hidden, acted, chances)]


def main():
    game = gymnasium.make("CartPole-v1")
    random = numpy.random.default_rng(7)
    weights = [random.normal(0, 0.5, (4, HIDDEN)), random.normal(0, 0.1, HIDDEN)]
    steps = 0
    for update in range(int(sys.argv[1])):
        gradients = [numpy.zeros_like(each) for each in weights]
        for number in range(BATCH):
            seen, hidden, acted, chances = episode(game, weights, random, update * BATCH + number)
            count = len(acted)
            steps += count
            gains = numpy.array([(1 - DISCOUNT ** (count - i)) for i in range(count)])
            error = (acted - chances) * (gains - gains.mean())
            gradients[1] += hidden.T @ error
            gradients[0] += seen.T @ (numpy.outer(error, weights[1]) * (1 - hidden**2))
        for weight, gradient in zip(weights, gradients, strict=True):
            weight += RATE * gradient / (numpy.linalg.norm(gradient) + 1e-9)
    print("steps", steps)


begin()
main()
end()
