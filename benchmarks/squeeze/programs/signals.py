"""Signals and pictures."""

import jax
import jax.numpy as jnp
from benchmarks.squeeze.table import normal, program, uniform


@program("log-mel spectrogram of many signals")
def spectrogram():
    def features(signals, window, mel):
        size, hop = len(window), len(window) // 4
        starts = jnp.arange(0, signals.shape[1] - size + 1, hop)
        frames = signals[:, starts[:, None] + jnp.arange(size)[None, :]]
        power = jnp.abs(jnp.fft.rfft(frames * window, axis=-1)) ** 2
        return jnp.log(power @ mel + 1e-6)

    window = jnp.hanning(512).astype(jnp.float32)
    return features, [normal(64, 160_000), window, uniform(257, 40)]


@program("matched filters: correlation of signals with templates by FFT, best match")
def matched_filters():
    def best(signals, templates):
        length = signals.shape[1] + templates.shape[1]
        spectra = jnp.fft.rfft(signals, length, axis=1)
        filters = jnp.conj(jnp.fft.rfft(templates, length, axis=1))
        correlation = jnp.fft.irfft(spectra[:, None] * filters[None, :], length, axis=-1)
        return correlation.max(-1), correlation.argmax(-1)

    return best, [normal(96, 15_360), normal(40, 1024, seed=1)]


@program("bilateral filter of pictures")
def bilateral_filter():
    def smooth(pictures, radius=3, spatial=2.0, tonal=0.2):
        offsets = jnp.arange(-radius, radius + 1)
        padded = jnp.pad(pictures, ((0, 0), (radius, radius), (radius, radius)), mode="edge")
        _, height, width = pictures.shape
        shifted = [
            padded[:, i : i + height, j : j + width]
            for i in range(2 * radius + 1)
            for j in range(2 * radius + 1)
        ]
        patches = jnp.stack(shifted, axis=-1)
        near = jnp.exp(-(offsets[:, None] ** 2 + offsets[None, :] ** 2) / (2 * spatial**2)).ravel()
        alike = jnp.exp(-((patches - pictures[..., None]) ** 2) / (2 * tonal**2))
        weights = near * alike
        return jnp.sum(weights * patches, axis=-1) / weights.sum(-1)

    return smooth, [uniform(16, 512, 512)]


@program("non-local means of a picture over windows of patches")
def non_local_means():
    def denoise(picture, strength=0.3):
        rows = jax.lax.conv_general_dilated_patches(
            picture[None, None], (5, 5), (1, 1), "SAME"
        ).reshape(25, -1)
        blocks = rows.reshape(25, -1, 1024).transpose(1, 2, 0)

        def one(block):
            squares = jnp.sum((block[:, None, :] - block[None, :, :]) ** 2, axis=-1)
            return jax.nn.softmax(-squares / strength, axis=-1) @ block[:, 12]

        return jax.vmap(one)(blocks).reshape(picture.shape)

    return denoise, [uniform(512, 512)]


@program("harmonic sums: sum of sinusoids at many times, fitted: gradient")
def harmonic_sum():
    def loss(parameters, times, signal):
        frequencies, phases, amplitudes = parameters
        waves = jnp.sin(times[:, None] * frequencies[None, :] + phases[None, :])
        return jnp.mean((waves @ amplitudes - signal) ** 2)

    parameters = (10 * uniform(1000), uniform(1000, seed=1), normal(1000, scale=0.03))
    return jax.value_and_grad(loss), [parameters, uniform(150_000, seed=2), normal(150_000)]
