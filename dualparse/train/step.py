"""One optimisation step, made cheap: on a GPU the whole step (loss, gradients, clipping, Adam) is one captured graph.

In: a function from a few small tensors to a loss. Training of this size is bound by the launches of many small kernels;
a captured CUDA graph launches them all at once. Graphs are kept per shape. On a CPU the same code runs directly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from dualparse.models.cores import each_on_a_core, on_one_core
from dualparse.models.tiny import tiny_is_zero

Loss = Callable[..., tuple[Tensor | Sequence[Tensor], Tensor]]
"""(shape key, *tensors) -> the loss to minimise, and a vector of figures to add up over the epoch. Of modules that have
nothing in common it may be several losses."""


@dataclass(frozen=True)
class Adam:
    """Settings of the optimizer. Weight decay does not touch biases; the gradient of each module is clipped by itself;
    `average` is the decay of a moving average of the weights that evaluation uses (0: none); `shares` has modules that
    learn at another rate, as a share of the one here."""

    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    clip: float = 5.0
    average: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)


class Stepper:
    """Takes steps for some modules; holds the optimizer, the moving average and the captured graphs."""

    def __init__(self, modules: Mapping[str, nn.Module], loss: Loss, figures: int, settings: Adam):
        self.modules = dict(modules)
        self.loss, self.settings = loss, settings
        if unknown := sorted(set(settings.shares) - set(modules)):
            raise ValueError(f"rates for {unknown}, but the modules are {sorted(modules)}")
        named = [(f"{name}.{key}", p) for name, m in self.modules.items() for key, p in m.named_parameters()]
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]
        self.device = self.parameters[0].device
        self.capture = self.device.type == "cuda"
        self.figures = torch.zeros(figures, device=self.device)
        self.averages = [p.detach().clone() for p in self.parameters] if settings.average else []
        self.optimizer = torch.optim.Adam(self._groups(), fused=True, capturable=self.capture)
        for parameter in self.parameters:  # Adam makes its state at the first step; a graph needs it before
            self.optimizer.state[parameter] = {
                "step": torch.zeros((), device=self.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        self._graphs: dict[Hashable, tuple[torch.cuda.CUDAGraph, list[Tensor]]] = {}
        self._pool = torch.cuda.graph_pool_handle() if self.capture else None

    def _groups(self) -> list[dict[str, Any]]:
        """Parameters by rate and decay; biases do not decay. A graph reads the rate from a tensor."""
        groups: dict[tuple[float, bool], list[nn.Parameter]] = {}
        for name, module in self.modules.items():
            rate = self.settings.learning_rate * self.settings.shares.get(name, 1.0)
            for key, parameter in module.named_parameters():
                groups.setdefault((rate, "bias" in key), []).append(parameter)
        return [
            {
                "params": parameters,
                "weight_decay": 0.0 if bias else self.settings.weight_decay,
                "lr": torch.tensor(rate, device=self.device) if self.capture else rate,
                "initial_lr": rate,
            }
            for (rate, bias), parameters in groups.items()
        ]

    def set_rate(self, share: float) -> None:
        """Learning rates as a share of those in the settings."""
        for group in self.optimizer.param_groups:
            rate = share * group["initial_lr"]
            if self.capture:
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def __call__(self, key: Hashable, inputs: Sequence[Tensor]) -> None:
        """One step. `key` names the shape: all that the loss depends on besides the values of `inputs`."""
        if not self.capture:
            with tiny_is_zero():
                self._step(key, inputs)
            return
        known = self._graphs.get(key)
        if known is None:
            known = self._graphs[key] = self._record(key, inputs)
        graph, static = known
        for target, source in zip(static, inputs, strict=True):
            target.copy_(source, non_blocking=True)
        graph.replay()

    def take_figures(self) -> list[float]:
        """The figures added up since the last call; looks at the device."""
        values = self.figures.tolist()
        self.figures.zero_()
        return values

    def _step(self, key: Hashable, inputs: Sequence[Tensor]) -> None:
        losses, figures = self.loss(key, *inputs)
        self.optimizer.zero_grad(set_to_none=True)
        differentiate(losses)
        with on_one_core():
            self._update()
        self.figures += figures.detach()

    def _update(self) -> None:
        """Clipping, Adam and the moving average."""
        for module in self.modules.values():
            torch.nn.utils.clip_grad_norm_(module.parameters(), self.settings.clip, foreach=True)
        self.optimizer.step()
        if self.averages:
            torch._foreach_lerp_(self.averages, [p.detach() for p in self.parameters], 1 - self.settings.average)

    def _record(self, key: Hashable, inputs: Sequence[Tensor]) -> tuple[torch.cuda.CUDAGraph, list[Tensor]]:
        """Capture a step for a new shape."""
        static = [tensor.clone() for tensor in inputs]
        graph = torch.cuda.CUDAGraph()
        with quick_products():
            if not self._graphs:
                self._try(key, inputs)
            with torch.cuda.graph(graph, pool=self._pool):
                self._step(key, static)
        return graph, static

    def _try(self, key: Hashable, inputs: Sequence[Tensor]) -> None:
        """Run the loss once before anything is captured: libraries set themselves up, kernels are compiled."""
        generator_state = torch.cuda.get_rng_state(self.device)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            differentiate(self.loss(key, *inputs)[0])
            self.optimizer.zero_grad(set_to_none=True)
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # what the trial used is of no use to the graphs' own pool
        torch.cuda.set_rng_state(generator_state, self.device)

    def state(self) -> dict[str, Tensor]:
        """Weights, moments and averages by name, for a checkpoint."""
        state = {"step": self.optimizer.state[self.parameters[0]]["step"]}
        for name, parameter in zip(self.names, self.parameters, strict=True):
            moments = self.optimizer.state[parameter]
            state[f"weight/{name}"] = parameter.detach()
            state[f"mean/{name}"], state[f"square/{name}"] = moments["exp_avg"], moments["exp_avg_sq"]
        state.update({f"average/{name}": average for name, average in zip(self.names, self.averages, strict=False)})
        return state

    @torch.no_grad()
    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take up a checkpoint, in place: captured graphs stay right."""
        for name, parameter in zip(self.names, self.parameters, strict=True):
            moments = self.optimizer.state[parameter]
            parameter.copy_(state[f"weight/{name}"])
            moments["exp_avg"].copy_(state[f"mean/{name}"])
            moments["exp_avg_sq"].copy_(state[f"square/{name}"])
            moments["step"].copy_(state["step"])
        for name, average in zip(self.names, self.averages, strict=False):
            average.copy_(state[f"average/{name}"])

    @torch.no_grad()
    def swap_averages(self) -> None:
        """Exchange weights and averages: before evaluation, and again after it."""
        for parameter, average in zip(self.parameters, self.averages, strict=False):
            kept = parameter.clone()
            parameter.copy_(average)
            average.copy_(kept)


def differentiate(losses: Tensor | Sequence[Tensor]) -> None:
    """Add up the gradients of one loss, or of several that share no parameters."""
    if isinstance(losses, Tensor):
        losses.backward()
    elif losses[0].is_cuda:
        torch.stack(list(losses)).sum().backward()
    else:
        each_on_a_core(Tensor.backward, losses)


@contextmanager
def quick_products() -> Iterator[None]:
    """Matrix products on tensor cores (TF32), as cuDNN's LSTMs have them anyway; for training, not for results."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
