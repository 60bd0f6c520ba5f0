"""Every error that Echelon raises on purpose.

An error says what is wrong (`str(error)`), what to do about it (`hint`), whether trying again can help
(`retryable`), a short `kind` for `stop_reason`, and the exit code that the command line ends with.
They are raised where the fact is known and turned into words once, at the edge.
"""

from __future__ import annotations


class EchelonError(Exception):
    """Base of all: `hint` is what the user can do, `kind` ends up in `stop_reason` as `error:<kind>`."""

    kind = "error"
    retryable = False
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(EchelonError):
    """A wrong option, argument or request."""

    kind = "usage"
    exit_code = 2


class ConfigError(EchelonError):
    """A configuration, prompt, recipe or pattern file that cannot be used; the message names file and key."""

    kind = "config"
    exit_code = 2


class PatternError(ConfigError):
    """A task pattern that does not compile; `problems` are (line, message) pairs."""

    kind = "pattern"

    def __init__(self, message: str, *, problems: tuple[tuple[int, str], ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


class GraphError(EchelonError):
    """A graph of nodes that is not well formed: found when it is built, never while it runs."""

    kind = "graph"
    exit_code = 2


class StoreError(EchelonError):
    """The run store cannot be read or written (locked, full, corrupt)."""

    kind = "store"


class LeaseLost(StoreError):
    """Another process owns the run now: this one may write nothing more to it."""

    kind = "lease_lost"


class RunBusy(StoreError):
    """The run is being worked on by a live owner."""

    kind = "run_busy"


class RunNotFound(UsageError):
    """No run, turn or session of that name."""

    kind = "not_found"


class CheckpointFailed(EchelonError):
    """A checkpoint could not be written, or not be brought back: the disk refused. Those before it are whole."""

    kind = "checkpoint"
    retryable = True


class CheckpointDamaged(EchelonError):
    """A checkpoint that is not what was written; `before` is the number of the newest whole one before it, or None."""

    kind = "checkpoint_damaged"

    def __init__(self, message: str, *, before: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.before = before


class WorkspaceGone(EchelonError):
    """The folder that a session works in is not there any more, or is no folder."""

    kind = "workspace_gone"


class BudgetExhausted(EchelonError):
    """A budget is used up: the run stops with what it has. `budget` is the counter's name."""

    kind = "budget"
    exit_code = 3

    def __init__(self, budget: str, used: float, limit: float) -> None:
        super().__init__(f"the budget for {budget} is used up: {used:g} of {limit:g}")
        self.budget = budget
        self.used = used
        self.limit = limit


class ModelError(EchelonError):
    """A model call failed."""

    kind = "model"
    exit_code = 5


class ModelUnavailable(ModelError):
    """No model is configured, or its server cannot be reached."""

    kind = "model_unavailable"


class ModelOverloaded(ModelError):
    """429 or 5xx; `retry_after_s` is what the server asked for, if it did."""

    kind = "model_overloaded"
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ModelTimeout(ModelError):
    """The model did not answer within the call's deadline."""

    kind = "model_timeout"
    retryable = True


class ModelRefused(ModelError):
    """The provider refused the request (authentication, content, unknown model)."""

    kind = "model_refused"


class ContextTooLong(ModelError):
    """The prompt does not fit the model's context window."""

    kind = "context_too_long"
    exit_code = 1


class DecisionInvalid(ModelError):
    """The model's answer did not fit its schema, also after it was asked again."""

    kind = "decision_invalid"
    exit_code = 1


class PackOverBudget(EchelonError):
    """What must be in a prompt does not fit the recipe's budget."""

    kind = "pack"


class ToolError(EchelonError):
    """A tool could not do what it was asked: a result that the Task Executor sees, not a crash."""

    kind = "tool"


class OutsideWorkspace(ToolError):
    """A path that leaves the workspace."""

    kind = "outside_workspace"


class NotNow(ToolError):
    """What a tool works on is not there yet: it is not offered in this situation, which nobody need be told."""

    kind = "not_now"


class TaskUnfinished(EchelonError):
    """A turn whose task could not be completed: its response says what there is."""

    kind = "unfinished"


class Halted(EchelonError):
    """A run that stops for a reason of its own, its `kind`, and has not failed."""

    kind = "halted"


class UserCancelled(Halted):
    """A person wants the run to end, as the answer to its question."""

    kind = "user_cancelled"
    exit_code = 130


class NoProgress(Halted):
    """A session whose iterations change nothing any more."""

    kind = "no_progress"


class SessionFailed(EchelonError):
    """A session whose agent cannot go on."""

    kind = "agent"


class AgentBusy(EchelonError):
    """An agent that is executing cannot be started once more."""

    kind = "agent_busy"
    exit_code = 2


class ReplayMismatch(EchelonError):
    """A replay took another way than the log; `seq` is the first event that differs."""

    kind = "replay"

    def __init__(self, message: str, *, seq: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.seq = seq


class Erased(EchelonError):
    """A run that cannot be replayed: without what a person had erased it takes another way."""

    kind = "erased"


class DeviceError(EchelonError):
    """A phone cannot be used, or did not do what it was asked. `performed` says of an act whether it happened all the
    same: nobody knows where it is None."""

    kind = "device"
    exit_code = 4
    performed: bool | None = False


class AdbMissing(DeviceError):
    """No adb server answers, and there is no adb program that could start one."""

    kind = "adb_missing"


class AdbTooOld(DeviceError):
    """The adb server is older than what the bridge speaks."""

    kind = "adb_too_old"


class NoDevice(DeviceError):
    """No device is connected, or none of that serial."""

    kind = "no_device"


class SeveralDevices(DeviceError):
    """More than one device is connected and none was chosen; `serials` names them."""

    kind = "several_devices"

    def __init__(self, message: str, *, serials: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.serials = serials


class DeviceBusy(DeviceError):
    """Another process works with the device now."""

    kind = "device_busy"


class DeviceUnauthorized(DeviceError):
    """The device has not allowed this computer to use it."""

    kind = "device_unauthorized"


class DeviceOffline(DeviceError):
    """The device is known to adb and does not answer it."""

    kind = "device_offline"
    retryable = True


class DeviceLost(DeviceError):
    """The link to the device was cut."""

    kind = "device_lost"
    retryable = True

    def __init__(self, message: str, *, performed: bool | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.performed = performed


class DeviceTimeout(DeviceError):
    """The device did not answer within the call's deadline."""

    kind = "device_timeout"
    retryable = True

    def __init__(self, message: str, *, performed: bool | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.performed = performed


class DeviceDenied(DeviceError):
    """The device, or its vendor's settings, forbid what was asked."""

    kind = "device_denied"


class ActionFailed(DeviceError):
    """The device answered an action with an error: it was not performed, or in part if it was killed or has several
    parts. `unknown`: it is too old for it."""

    kind = "action_failed"

    def __init__(self, message: str, *, unknown: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.unknown = unknown


class ScreenshotFailed(DeviceError):
    """What came is no picture of the screen."""

    kind = "screenshot"
    retryable = True


class HierarchyUnreadable(DeviceError):
    """The device gave no list of what is on its screen, or none that can be read."""

    kind = "hierarchy"
    retryable = True


class TextNotTyped(DeviceError):
    """The text could not be typed into the focused field."""

    kind = "text_not_typed"


class AppNotFound(DeviceError):
    """No installed app has that label or package."""

    kind = "app_not_found"


class InstallFailed(DeviceError):
    """The device refused an app; `reason` is its own code, such as INSTALL_FAILED_VERSION_DOWNGRADE."""

    kind = "install"

    def __init__(self, message: str, *, reason: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
