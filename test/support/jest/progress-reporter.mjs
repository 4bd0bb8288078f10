import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { elapsed, printLine, printOn, red, steps } from '../../../scripts/lib/terminal.mjs';

/** The time between two lines of progress without a terminal. */
const LINE_EVERY_MS = 30_000;
const STEP = 'Tests';

/** A Jest reporter: progress in one line, each failure at once, and a summary that fits on a screen. */
export default class ProgressReporter {
  #began = performance.now();
  #done = 0;
  #running = new Set();
  #timer;

  onRunStart({ numTotalTestSuites }) {
    printOn(process.stderr);
    this.counts = { numTotalTestSuites };
    steps.begin(STEP);
    if (process.stderr.isTTY && !process.env.CI) return;
    this.#timer = setInterval(() => printLine(`  ${this.#progress()}`), LINE_EVERY_MS);
    this.#timer.unref();
  }

  onTestFileStart({ path }) {
    this.#running.add(path);
    this.#update();
  }

  onTestFileResult({ path }, result, counts) {
    this.#running.delete(path);
    this.counts = counts;
    this.#done += 1;
    if (result.failureMessage) {
      printLine(`\n${red('✗')} ${relative(process.cwd(), path)}\n${result.failureMessage.trimEnd()}`);
      for (const { message, origin } of result.console ?? []) printLine(`${message}\n${origin}`);
    }
    this.#update();
  }

  onRunComplete(_, results) {
    clearInterval(this.#timer);
    this.counts = results;
    const failed = results.testResults.filter(({ failureMessage }) => failureMessage);
    writeResult(results, failed);
    const note = this.#progress();
    if (failed.length > 0) steps.fail(STEP, note);
    else steps.done(STEP, note);
    const leftOut = leftOutNames();
    if (leftOut.length > 0) printLine(`\n  Left out, for want of: ${leftOut.join(', ')}`);
    if (failed.length > 0) {
      printLine('\n  Failed');
      for (const { testFilePath, numFailingTests } of failed)
        printLine(
          `  ${red('✗')} ${relative(process.cwd(), testFilePath)} (${numFailingTests || 'did not run'})`,
        );
    }
  }

  getLastError() {}

  #update() {
    const [running] = this.#running;
    steps.note(STEP, `${this.#progress()}${running ? ` · ${relative(process.cwd(), running)}` : ''}`);
  }

  #progress() {
    const { numTotalTestSuites, numPassedTests = 0, numFailedTests = 0 } = this.counts;
    const time = elapsed(performance.now() - this.#began);
    const suites = `${this.#done} of ${numTotalTestSuites} suites in ${time}`;
    return `${suites} · ${numPassedTests} passed, ${numFailedTests} failed`;
  }
}

/** Writes the counts to the file that scripts/test.mjs names. */
function writeResult({ numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }, failed) {
  const file = process.env.DISBURSE_TEST_RESULT;
  if (file === undefined) return;
  const passedInFailing = failed.reduce((sum, { numPassingTests }) => sum + numPassingTests, 0);
  const result = {
    passed: numPassedTests,
    failed: numFailedTests + numRuntimeErrorTestSuites,
    skipped: numPendingTests,
    failing: failed.map(({ testFilePath }) => testFilePath),
    passedElsewhere: numPassedTests - passedInFailing,
  };
  writeFileSync(`${file}.new`, JSON.stringify(result));
  renameSync(`${file}.new`, file);
}

/** Lists the programs that suites did not find (system-program.ts). */
function leftOutNames() {
  const folder = join(process.env.DISBURSE_TEST_RUN ?? '', 'left-out');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
