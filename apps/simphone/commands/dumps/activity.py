"""`dumpsys activity [activities|top|recents|PACKAGE]`."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.snapshot import Snapshot, record_of, window_of
from simphone.system.tasks import Activity, Task


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    words = [each for each in words if not each.startswith("-")]
    what = words[0] if words else "activities"
    if what in ("activities", "a"):
        return _activities(seen)
    if what == "top":
        return _top(seen)
    if what in ("recents", "r"):
        return _recents(seen)
    if what in ("processes", "p"):
        return _processes(seen)
    found = [each for task in seen.system.activities.tasks for each in task.activities if what in each.component.long]
    if not found:
        return f"Unknown command: {what}\nBad activity command, or no activities match: {what}\nUse -h for help."
    return "\n\n".join(_block(seen, each) for each in found)


def _task_of(seen: Snapshot, activity: Activity) -> Task:
    return next(task for task in seen.system.activities.tasks if activity in task.activities)


def task_line(task: Task, *, visible: bool) -> str:
    kind = "home ??" if task.is_home else f"standard A={task.uid}:{task.affinity}"
    shown = str(visible).lower()
    return (
        f"Task{{{task.mark} #{task.id} type={kind} U=0 visible={shown} visibleRequested={shown} mode=fullscreen "
        f"translucent={'false' if visible else 'true'} sz={len(task.activities)}}}"
    )


def _activities(seen: Snapshot) -> str:
    tasks, awake = seen.system.activities.tasks, seen.system.display.on
    lines = ["ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)", "Display #0 (activities from top to bottom):"]
    for number, task in enumerate(tasks):
        visible = number == 0 and awake
        lines.append(f"  * {task_line(task, visible=visible)}")
        if visible:
            lines.append(f"    mResumedActivity: {record_of(task.top, task.id)}")
        elif number == 0:
            lines += [f"    mLastPausedActivity: {record_of(task.top, task.id)}", "    isSleeping=true"]
        for at in reversed(range(len(task.activities))):
            each = task.activities[at]
            state = "RESUMED" if visible and each is task.top else "STOPPED"
            stopped = str(state == "STOPPED").lower()
            package, name = each.component.package, each.component.short
            pid = seen.system.activities.running(package) or 1
            lines += [
                f"    * Hist  #{at}: {record_of(each, task.id)}",
                f"      packageName={package} processName={package}",
                "      launchedFromUid=2000 launchedFromPackage=com.android.shell launchedFromFeature=null userId=0",
                f"      app=ProcessRecord{{{each.record} {pid}:{package}/u0a{task.uid % 10000}}}",
                f"      {each.intent}",
                f"      rootOfTask={str(at == 0).lower()} task={task_line(task, visible=visible)}",
                f"      taskAffinity={task.uid}:{task.affinity}",
                f"      mActivityComponent={name}",
                f"      state={state} stopped={stopped} delayedResume=false finishing=false",
                "      keysPaused=false inHistory=true idle=true",
                f"      windows=[{window_of(each)}]",
            ]
        lines.append("")
    front = tasks[0]
    if awake:
        lines += [f"  topResumedActivity={record_of(front.top, front.id)}", ""]
    lines.append("ActivityTaskSupervisor state:")
    lines.append(f"  topDisplayFocusedRootTask={task_line(front, visible=awake)}")
    lines.append(f"  ResumedActivity: {record_of(front.top, front.id)}")
    sleeping = str(not awake).lower()
    lines += [
        f"  mSleeping={sleeping}",
        "  KeyguardController:",
        "   KeyguardShowing=false AodShowing=false KeyguardGoingAway=false DismissalRequested=false  Occluded=false",
        "",
        f"  mCurTaskIdForUser={{0={max(each.id for each in tasks)}}}",
        "  isHomeRecentsComponent=true",
    ]
    return "\n".join(lines)


def _top(seen: Snapshot) -> str:
    """As on Android 14: the task in front comes last."""
    return "\n\n".join(_block(seen, task.top) for task in reversed(seen.system.activities.tasks))


def _block(seen: Snapshot, activity: Activity) -> str:
    task = _task_of(seen, activity)
    pid = seen.system.activities.running(activity.component.package) or 1
    resumed = activity is seen.front and seen.system.display.on
    name = "null" if task.is_home else f"{task.uid}:{task.affinity}"
    return "\n".join(
        (
            f"TASK {name} id={task.id} userId=0 displayId=0(type=INTERNAL)",
            f"  ACTIVITY {activity.component.short} {activity.record} pid={pid} userId=0 uid={task.uid} "
            "displayId=0(type=INTERNAL)",
            f"    Local Activity {activity.window} State:",
            f"      mResumed={str(resumed).lower()} mStopped={str(not resumed).lower()} mFinished=false",
            "      mIsInMultiWindowMode=false mIsInPictureInPictureMode=false",
            "      mChangingConfigurations=false",
        )
    )


def _recents(seen: Snapshot) -> str:
    lines = ["ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)", "mRecentsUid=10081", "  Recent tasks:"]
    for number, task in enumerate(seen.system.activities.recent):
        lines += [
            f"  * Recent #{number}: {task_line(task, visible=task is seen.system.activities.front_task)}",
            f"    userId=0 effectiveUid=u0a{task.uid % 10000} mCallingUid=2000 mCallingPackage=com.android.shell",
            f"    affinity={task.uid}:{task.affinity}",
            f"    intent={{{str(task.root.intent)[len('Intent { ') : -2]}}}",
            f"    mActivityComponent={task.root.component.short}",
        ]
    return "\n".join(lines)


def _processes(seen: Snapshot) -> str:
    lines = ["ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)", "  All known processes:"]
    for package, pid in seen.system.activities.processes.items():
        lines.append(f"  *APP* UID 10000 ProcessRecord{{{pid:x} {pid}:{package}/u0a0}}")
    return "\n".join(lines)
