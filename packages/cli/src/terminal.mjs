// The terminal: colour and live steps where the output is one (never against NO_COLOR), plain lines elsewhere.
import process from 'node:process';

let out, live, colour;
printOn(process.stdout);

/** Everything goes to this stream from here on: standard error where standard output is for machines. */
export function printOn(stream) {
  out = stream;
  // A reader that has seen enough (| head) or a terminal that was closed ends the text, not the work.
  out.on('error', (error) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
  });
  live = Boolean(out.isTTY) && process.env.TERM !== 'dumb' && !process.env.CI;
  colour = process.env.FORCE_COLOR ? process.env.FORCE_COLOR !== '0' : live && !process.env.NO_COLOR;
}

const paint = (open, close) => (text) => (colour ? `\u001b[${open}m${text}\u001b[${close}m` : String(text));
export const bold = paint(1, 22);
export const dim = paint(2, 22);
export const green = paint(32, 39);
export const red = paint(31, 39);
export const cyan = paint(36, 39);

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const TICK_MS = 80;
const WIDTH = () => Math.min(100, out.columns || 100);

/** `0.42 s`, `12.3 s`, `2 min 5 s`, `3 h 20 min`, `12 days`. */
export function elapsed(ms) {
  if (ms < 9_950) return `${(ms / 1000).toFixed(ms < 995 ? 2 : 1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} days`;
}

export function printLine(text = '') {
  steps.above(`${text}\n`);
}

/**
 * A list of steps, each with a tick, a note and its time. Steps may overlap. On a terminal the running ones are at the
 * bottom with a spinner. Elsewhere each step is one line, printed when it ends.
 */
class Steps {
  running = new Map();
  drawn = 0;
  frame = 0;
  timer = null;
  width = 14;

  begin(name) {
    this.running.set(name, { began: performance.now(), note: '' });
    if (live && this.timer === null) {
      this.timer = setInterval(() => this.draw(), TICK_MS);
      this.timer.unref();
    }
    this.draw();
  }

  note(name, note) {
    const step = this.running.get(name);
    if (step) step.note = note;
  }

  done(name, note = '') {
    this.end(name, green('✓'), note);
  }

  fail(name, note = '') {
    this.end(name, red('✗'), note);
  }

  /** Everything that still runs has failed. */
  failAll() {
    for (const name of [...this.running.keys()]) this.fail(name);
  }

  /** Prints above the steps that are still running. */
  above(text) {
    this.erase();
    out.write(text);
    this.draw();
  }

  end(name, mark, note) {
    const step = this.running.get(name);
    if (!step) return;
    this.running.delete(name);
    const took = elapsed(performance.now() - step.began);
    this.above(`${this.line(mark, name, note, took)}\n`);
    if (this.running.size === 0 && this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
    }
  }

  line(mark, name, note, time) {
    const room = Math.max(20, WIDTH() - this.width - 18);
    const start = `  ${mark} ${name.padEnd(this.width)} `;
    if (note.length <= room) return `${start}${note.padEnd(room)} ${dim(time.padStart(9))}`;
    // A long note takes the place of the time as well.
    const wide = room + 10;
    return start + (note.length > wide ? `${note.slice(0, wide - 1)}…` : note);
  }

  draw() {
    if (!live) return;
    this.erase();
    this.frame = (this.frame + 1) % FRAMES.length;
    for (const [name, step] of this.running) {
      const time = elapsed(performance.now() - step.began);
      out.write(`${this.line(cyan(FRAMES[this.frame]), name, step.note, time)}\n`);
    }
    this.drawn = this.running.size;
  }

  erase() {
    if (this.drawn > 0) out.write(`\u001b[${this.drawn}A\u001b[0J`);
    this.drawn = 0;
  }
}

export const steps = new Steps();

/** Runs one step; its note is what `work` returns, when that is a string. A throw marks it as failed. */
export async function step(name, work) {
  steps.begin(name);
  try {
    const result = await work((note) => steps.note(name, note));
    steps.done(name, typeof result === 'string' ? result : '');
    return result;
  } catch (error) {
    steps.fail(name);
    throw error;
  }
}

/** Two columns with an indent; the first one as wide as its longest. On a terminal a long second one is wrapped. */
export function table(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  const room = live && out.columns ? Math.max(30, out.columns - width - 5) : null;
  for (const [name, value] of rows) {
    const lines = room === null ? [value] : wrap(String(value), room);
    printLine(`  ${dim(name.padEnd(width))}   ${lines.join(`\n${' '.repeat(width + 5)}`)}`);
  }
}

/** A problem for the user of the command: its message is printed as it is, without a stack. */
export class Problem extends Error {
  name = 'Problem';
}

/** Prints what went wrong, wrapped and indented, and sets the exit code: of a Problem its own, 2 for wrong options. */
export function complain(error, stream = out) {
  steps.failAll();
  const isUsage = error?.code?.startsWith?.('ERR_PARSE_ARGS') === true;
  const isExpected = isUsage || error instanceof Problem;
  const text = isExpected ? error.message : (error?.stack ?? String(error));
  const lines = text.split('\n').flatMap((line) => wrap(line, WIDTH() - 6));
  process.exitCode = isUsage ? 2 : (error?.exitCode ?? 1);
  stream.write(
    `\n${lines.map((line, index) => `  ${index === 0 ? red('✗') : ' '} ${line}`.trimEnd()).join('\n')}\n\n`,
  );
}

/** Lines of whole words, each up to this width where its words allow it. */
export function wrap(line, width) {
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last !== '' && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
