"""One optimisation step, made cheap: on a GPU the whole step (loss, gradients, clipping, Adam) is one captured graph.

In: a function from a few small tensors to a loss. Training of this size is bound by the launches of many small kernels;
a captured CUDA graph launches them all at once. Graphs are kept per shape. On a CPU the same code runs directly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dualparse.engines import graphs
from dualparse.engines.cores import each_on_a_core, on_one_core
from dualparse.engines.denormals import denormals_are_zero

Loss = Callable[..., tuple[Tensor | Sequence[Tensor], Tensor]]
"""(shape key, *tensors) -> the loss to minimise, and a vector of figures to add up over the epoch. Where modules have
nothing in common it may be a loss for each of them, in their order."""


@dataclass(frozen=True)
class Adam:
    """Settings of the optimizer. Weight decay does not touch biases; the gradient of each module is clipped by itself;
    `average` is the decay of a moving average of the weights that evaluation uses (0: none)."""

    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    clip: float = 5.0
    average: float = 0.0


class Stepper:
    """Takes steps for some modules; holds the optimizer, the moving average and the captured graphs."""

    def __init__(self, modules: Mapping[str, nn.Module], loss: Loss, figures: int, settings: Adam):
        self.modules = dict(modules)
        self.loss, self.settings = loss, settings
        named = [(f"{name}.{key}", p) for name, m in self.modules.items() for key, p in m.named_parameters()]
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]
        self.device = self.parameters[0].device
        self.capture = graphs.captures_steps(*self.modules.values())
        self.figures = torch.zeros(figures, device=self.device)
        averaged = self.modules if settings.average else {}
        self._averages = {name: [p.detach().clone() for p in m.parameters()] for name, m in averaged.items()}
        self.optimizers = {name: self._optimizer(name) for name in self.modules}
        self._graphs: dict[Hashable, tuple[torch.cuda.CUDAGraph, list[Tensor]]] = {}
        self._pool = torch.cuda.graph_pool_handle() if self.capture else None

    def _optimizer(self, name: str) -> torch.optim.Adam:
        """Adam for a module; biases do not decay. A graph reads the rate from a tensor."""
        slower = getattr(self.modules[name], "slower", {})
        groups: dict[tuple[float, float], list[nn.Parameter]] = {}
        for key, parameter in self.modules[name].named_parameters():
            decay = self.settings.weight_decay if parameter.dim() > 1 else 0.0
            share = next((share for start, share in slower.items() if key.startswith(start)), 1.0)
            groups.setdefault((decay, self.settings.learning_rate * share), []).append(parameter)
        made = torch.optim.Adam(
            [
                {"params": parameters, "weight_decay": decay, "lr": self._told(rate), "initial_lr": rate}
                for (decay, rate), parameters in groups.items()
            ],
            fused=True,
            capturable=self.capture,
        )
        # Adam makes its state at the first step; a graph needs it before.
        for parameter in self.modules[name].parameters():
            made.state[parameter] = {
                "step": torch.zeros((), device=self.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return made

    def _told(self, rate: float) -> float | Tensor:
        return torch.tensor(rate, device=self.device) if self.capture else rate

    @property
    def averages(self) -> list[Tensor]:
        """The moving average of every parameter, or nothing."""
        return [average for of_module in self._averages.values() for average in of_module]

    def _moments(self) -> list[dict[str, Tensor]]:
        """What Adam remembers of every parameter."""
        return [self.optimizers[name].state[p] for name, module in self.modules.items() for p in module.parameters()]

    def __call__(self, key: Hashable, inputs: Sequence[Tensor]) -> None:
        """One step. `key` names the shape: all that the loss depends on besides the values of `inputs`."""
        if not self.capture:
            with denormals_are_zero():
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
        self._forget()
        if isinstance(losses, Tensor) or self.device.type != "cpu":
            differentiate(losses)
            with on_one_core():
                for name in self.modules:
                    self._update(name)
        else:
            each_on_a_core(self._learn, list(zip(self.modules, losses, strict=True)))
        self.figures += figures.detach()

    def _forget(self) -> None:
        """Leave the gradients of the last step behind."""
        for parameter in self.parameters:
            parameter.grad = None

    def _learn(self, own: tuple[str, Tensor]) -> None:
        """What a step does to one module, from its own loss on."""
        name, loss = own
        loss.backward()
        self._update(name)

    def _update(self, name: str) -> None:
        """Clipping, Adam and the moving average."""
        parameters = list(self.modules[name].parameters())
        torch.nn.utils.clip_grad_norm_(parameters, self.settings.clip, foreach=True)
        self.optimizers[name].step()
        if self._averages:
            torch._foreach_lerp_(self._averages[name], [p.detach() for p in parameters], 1 - self.settings.average)

    def _record(self, key: Hashable, inputs: Sequence[Tensor]) -> tuple[torch.cuda.CUDAGraph, list[Tensor]]:
        """Capture a step for a new shape."""
        static = [tensor.clone() for tensor in inputs]
        graph = torch.cuda.CUDAGraph()
        with graphs.quick_products():
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
            self._forget()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # what the trial used is of no use to the graphs' own pool
        torch.cuda.set_rng_state(generator_state, self.device)

    def state(self) -> dict[str, Tensor]:
        """Weights, moments and averages by name, for a checkpoint."""
        moments_of = self._moments()
        state = {"step": moments_of[0]["step"]}
        for name, parameter, moments in zip(self.names, self.parameters, moments_of, strict=True):
            state[f"weight/{name}"] = parameter.detach()
            state[f"mean/{name}"], state[f"square/{name}"] = moments["exp_avg"], moments["exp_avg_sq"]
        state.update({f"average/{name}": average for name, average in zip(self.names, self.averages, strict=False)})
        return state

    @torch.no_grad()
    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take up a checkpoint, in place: captured graphs stay right."""
        for name, parameter, moments in zip(self.names, self.parameters, self._moments(), strict=True):
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
    """Add up the gradients of one loss, or of several."""
    (losses if isinstance(losses, Tensor) else torch.stack(list(losses)).sum()).backward()
