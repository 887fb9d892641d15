"""`pytest --workers 3`: one process collects the tests, and its forks run them.

Collecting imports many large libraries. If each worker did that itself, as with pytest-xdist, all cores would be busy
for half a minute before the first test of a fresh clone. Where forking is not safe, as on macOS, one process runs all
tests.
"""

import atexit
import multiprocessing
import os
import random
import sys
from itertools import groupby
from multiprocessing.connection import wait

import pytest

FORKS = sys.platform == "linux"


class Workers:
    """A plugin that runs the tests in several processes.

    number: how many
    shared: takes the id of a test and returns the name of the group that it must run with, in one process, or None; the
        cases of one test always stay together
    """

    def __init__(self, number, shared):
        self.number, self.shared = number, shared

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest reports the errors, or lists the tests
        fork = multiprocessing.get_context("fork")
        groups, turn = self._groups(session.items), fork.Value("i", 0)
        session.config._tmp_path_factory.getbasetemp()  # each worker has a folder in it
        running = {}
        for number in range(self.number):
            ours, its = fork.Pipe(duplex=False)
            process = fork.Process(target=_work, args=(session, number, groups, turn, its))
            process.start()
            its.close()
            running[ours] = process
        try:
            self._report(session, running)
        finally:
            for process in running.values():
                process.terminate()
                process.join()
        return True

    def _groups(self, items):
        """Lists of tests that stay together; first those that share something, which take longest."""

        def group(item):
            name = self.shared(item.nodeid)
            return (0, name) if name else (1, item.nodeid.partition("[")[0])

        order = {name: place for place, name in enumerate(dict.fromkeys(map(group, items)))}
        placed = sorted(items, key=lambda item: (group(item)[0], order[group(item)]))
        return [list(together) for _, together in groupby(placed, key=group)]

    def _report(self, session, running):
        """Pass on the workers' reports until all of them have ended."""
        hook, missing = session.config.hook, {item.nodeid: item for item in session.items}
        reading = dict(running)
        while reading:
            for connection in wait(reading):
                try:
                    name, reports = connection.recv()
                except EOFError:
                    reading.pop(connection).join()
                    continue
                del missing[name]
                for data in reports:
                    hook.pytest_runtest_logreport(
                        report=hook.pytest_report_from_serializable(config=session.config, data=data)
                    )
                hook.pytest_runtest_logfinish(nodeid=name, location=session.items[0].location)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
        codes = [process.exitcode for process in running.values()]
        for name, item in missing.items():
            died = f"A worker died before this test had ended; their exit codes: {codes}"
            hook.pytest_runtest_logreport(report=pytest.TestReport(name, item.location, {}, "failed", died, "call"))
        if any(codes) and not missing:
            pytest.exit(f"A worker died after its last test; their exit codes: {codes}", 1)


def _work(session, number, groups, turn, connection):
    """Run one group of tests after the other, as long as there are any."""
    random.seed()  # or all workers would draw the same, such as the port of a server
    config, reports = session.config, []
    plugins = config.pluginmanager
    plugins.unregister(name="terminalreporter")  # the process that forked reports
    plugins.register(_Reports(config, reports))
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()  # its files are shared by all workers
    capture.start_global_capturing()
    folders = config._tmp_path_factory
    folders._basetemp = folders.getbasetemp() / f"worker{number}"
    folders._basetemp.mkdir()
    items = _items(groups, turn)
    item = next(items, None)
    while item:
        following = next(items, None)
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        connection.send((item.nodeid, reports))
        reports.clear()
        item = following
    connection.close()
    capture.stop_global_capturing()
    atexit._run_exitfuncs()
    os._exit(0)  # the rest of the shutdown is for the process that forked


def _items(groups, turn):
    while True:
        with turn.get_lock():
            group = turn.value
            turn.value += 1
        if group >= len(groups):
            return
        yield from groups[group]


class _Reports:
    """Keeps the reports of a test until they are sent."""

    def __init__(self, config, reports):
        self._config, self._reports = config, reports

    def pytest_runtest_logreport(self, report):
        hook = self._config.hook
        self._reports.append(hook.pytest_report_to_serializable(config=self._config, report=report))
