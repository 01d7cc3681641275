"""ONNX Runtime: a small convolutional model answers batches of 1 to 32, with one and two threads.

Usage: infer.py ROUNDS arena|plain"""

import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
from rl_phase import begin, end

BATCHES = (1, 2, 4, 8, 16, 32)
SIDE, CHANNELS = 28, (1, 16, 32)


def model():
    """Two convolutions and two layers, with weights of a seed."""
    random = numpy.random.default_rng(7)
    weights, nodes, seen = [], [], "x"

    def weight(name, *shape):
        values = random.normal(0, 0.1, shape).astype(numpy.float32)
        weights.append(helper.make_tensor(name, TensorProto.FLOAT, shape, values.flatten()))
        return name

    for i in range(2):
        kernel = weight(f"k{i}", CHANNELS[i + 1], CHANNELS[i], 3, 3)
        nodes += [
            helper.make_node("Conv", [seen, kernel], [f"c{i}"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", [f"c{i}"], [f"r{i}"]),
            helper.make_node("MaxPool", [f"r{i}"], [f"p{i}"], kernel_shape=[2, 2], strides=[2, 2]),
        ]
        seen = f"p{i}"
    nodes += [
        helper.make_node("Flatten", [seen], ["f"]),
        helper.make_node("MatMul", ["f", weight("w0", 32 * 7 * 7, 128)], ["m"]),
        helper.make_node("Relu", ["m"], ["h"]),
        helper.make_node("MatMul", ["h", weight("w1", 128, 10)], ["s"]),
        helper.make_node("Softmax", ["s"], ["y"]),
    ]
    shapes = {"x": ["n", 1, SIDE, SIDE], "y": ["n", 10]}
    sides = [helper.make_tensor_value_info(k, TensorProto.FLOAT, v) for k, v in shapes.items()]
    graph = helper.make_graph(nodes, "digits", sides[:1], sides[1:], weights)
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString()


def session(network, threads, arena):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.enable_cpu_mem_arena = arena
    return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


def main():
    network, random = model(), numpy.random.default_rng(8)
    answered = 0
    for threads in (1, 2):
        inference = session(network, threads, sys.argv[2] == "arena")
        for number in range(int(sys.argv[1])):
            batch = BATCHES[number % len(BATCHES)]
            pictures = random.random((batch, 1, SIDE, SIDE), dtype=numpy.float32)
            [shares] = inference.run(None, {"x": pictures})
            assert abs(float(shares.sum()) - batch) < 0.01
            answered += len(shares)
    print("answered", answered, "onnx", onnx.__version__)


if __name__ == "__main__":
    begin()
    main()
    end()
