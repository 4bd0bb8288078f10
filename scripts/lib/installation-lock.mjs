// One command at a time installs or builds in a clone. A file has its process and the program that it runs.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onSignals } from '../../packages/cli/src/signals.mjs';
import { Interrupted } from '../../packages/cli/src/usage.mjs';
import { endGroup, groupLives, run, startOf } from './programs.mjs';
import { dim, Problem, printLine } from './terminal.mjs';

const CHECK_MS = 100;

/**
 * Runs `work` once no other command holds `file`. It gets a function that runs a program in `cwd`. A signal ends that
 * program with its children, and rejects with {@link Interrupted}; `signal` ends it likewise.
 */
export async function oneAtATime({ file, cwd, doing, signal = new AbortController().signal }, work) {
  const interruption = new AbortController();
  const either = AbortSignal.any([signal, interruption.signal]);
  const unwatch = onSignals((name) =>
    interruption.abort(new Interrupted(name, `Stopped while ${doing}; the next npm start continues.`)),
  );
  const holder = { pid: process.pid, start: startOf(process.pid), doing };
  const started = (pid) => replace(file, { ...holder, program: { pid, start: startOf(pid) } });
  const release = () => rmSync(file, { force: true });
  try {
    await take(file, holder, either);
    process.once('exit', release);
    try {
      return await work((command, args) => run(command, args, { cwd, signal: either, started }));
    } finally {
      process.off('exit', release);
      release();
    }
  } finally {
    unwatch();
  }
}

async function take(file, holder, signal) {
  let named = null;
  for (;;) {
    signal.throwIfAborted();
    if (create(file, holder)) return;
    const text = read(file);
    if (text === null) continue;
    const { pid, start, doing, program } = parse(text);
    if (isRunning({ pid, start })) {
      if (named !== pid) printLine(`  ${dim(`Waiting for process ${pid}, which is ${doing}`)}`);
      named = pid;
      await sleep(CHECK_MS);
    } else if (program && isRunning(program) && groupLives(program.pid)) {
      printLine(`  ${dim(`Ending process ${program.pid}, which was left behind while ${doing}`)}`);
      await endGroup(program.pid);
    } else {
      remove(file, text);
    }
  }
}

/** Creates the file with its content at once: a second command never reads half of it. */
function create(file, holder) {
  const next = write(file, holder);
  try {
    linkSync(next, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw new Problem(`This folder is not writable: ${error.message}`);
  } finally {
    rmSync(next, { force: true });
  }
}

function replace(file, holder) {
  renameSync(write(file, holder), file);
}

function write(file, holder) {
  const next = `${file}.${process.pid}`;
  try {
    writeFileSync(next, JSON.stringify(holder));
  } catch (error) {
    throw new Problem(`This folder is not writable: ${error.message}`);
  }
  return next;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function parse(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function isRunning({ pid, start }) {
  return Number.isInteger(pid) && startOf(pid) === start;
}

/** Removes the file of a dead holder. One that another command has created meanwhile is put in its place again. */
function remove(file, text) {
  const removed = `${file}.${process.pid}`;
  try {
    renameSync(file, removed);
    if (read(removed) !== text) linkSync(removed, file);
  } catch {
    // Another command was faster.
  }
  rmSync(removed, { force: true });
}
