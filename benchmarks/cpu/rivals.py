"""Those who do the same work: KeOps, FAISS, PyTorch, and C++ by hand.

Each is a function of a row's name that gives a function of the row's arguments, with results as the
row's own program has them.
"""

import ctypes
import functools
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.cpu.neighbours import COUNT
from benchmarks.cpu.networks import WINDOW

# Threads of every program that is timed.
THREADS = 2


def keops(name: str) -> Callable:
    from pykeops.numpy import LazyTensor

    def pair(x, y):
        return LazyTensor(x[:, None, :]), LazyTensor(y[None, :, :])

    def squares(x, y):
        x, y = pair(x, y)
        return ((x - y) ** 2).sum(-1)

    def manhattan(x, y):
        x, y = pair(x, y)
        return (x - y).abs().sum(-1)

    def product(matrix, v):
        return (matrix @ v.reshape(len(v), -1)).reshape(-1, *v.shape[1:])

    def neighbours(distances):
        return distances.Kmin_argKmin(COUNT, dim=1)

    def rbf(x, y, v):
        return product((-squares(x, y) / 2).exp(), v)

    def laplacian(x, y, v):
        return product((-manhattan(x, y)).exp(), v)

    return {
        "rbf": rbf,
        "rbf_large": rbf,
        "rbf_others": rbf,
        "rbf_d64": rbf,
        "rbf_d64_others": rbf,
        "laplacian": laplacian,
        "laplacian_large": laplacian,
        "knn_d10": lambda points, queries: neighbours(squares(queries, points)),
        "knn_l1": lambda points, queries: neighbours(manhattan(queries, points)),
    }[name]


def faiss(name: str) -> Callable:
    import faiss

    faiss.omp_set_num_threads(THREADS)

    def neighbours(metric, points, queries):
        return faiss.knn(queries, points, COUNT, metric)

    def cosine(points, queries):
        points = points / np.linalg.norm(points, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        similarities, indices = neighbours(faiss.METRIC_INNER_PRODUCT, points, queries)
        return 1 - similarities, indices

    euclidean = functools.partial(neighbours, faiss.METRIC_L2)
    return {
        "knn_d10": euclidean,
        "knn_l1": functools.partial(neighbours, faiss.METRIC_L1),
        "knn_d100": euclidean,
        "knn_cosine": cosine,
    }[name]


def torch(name: str) -> Callable:
    import torch

    torch.set_num_threads(THREADS)
    is_causal = name.startswith("causal")

    @functools.cache
    def window(rows, columns):
        if not name.startswith("window"):
            return None
        return torch.ones(rows, columns, dtype=torch.bool).tril().triu(1 - WINDOW)

    def attention(q, k, v):
        # The kernel that takes no memory for the scores wants a batch of heads.
        arguments = [one[None] for one in (q, k, v)]
        seen = window(q.shape[1], k.shape[1])
        function = torch.nn.functional.scaled_dot_product_attention
        return function(*arguments, attn_mask=seen, is_causal=is_causal)[0]

    def forward(*arguments):
        with torch.no_grad():
            return attention(*map(torch.from_numpy, arguments)).numpy()

    def both(*arguments):
        *inputs, cotangent = map(torch.from_numpy, arguments)
        for one in inputs:
            one.requires_grad_()
        result = attention(*inputs)
        gradients = torch.autograd.grad(result, inputs, cotangent)
        return tuple(one.detach().numpy() for one in (result, *gradients))

    return both if name.endswith("_both") else forward


def hand(name: str) -> Callable:
    function = getattr(_compiled_by_hand(), name.partition("_")[0])

    def product(x, y, v):
        results = np.empty(len(x), np.float32)
        pointers = [one.ctypes.data_as(ctypes.c_void_p) for one in (x, y, v, results)]
        function(*pointers, *map(ctypes.c_int64, (len(x), len(y), THREADS)))
        return results

    return product


RIVALS = {"keops": keops, "faiss": faiss, "torch": torch, "hand": hand}


def _compiled_by_hand() -> ctypes.CDLL:
    source = Path(__file__).with_name("hand_products.cc")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "hand.so")
        options = ["-std=c++20", "-O3", "-march=native", "-shared", "-fPIC", "-pthread"]
        subprocess.run(["clang++-22", *options, source, "-o", library], check=True)
        return ctypes.CDLL(str(library))
