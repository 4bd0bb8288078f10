// Starts the service as a child and follows its boot.
import { spawn } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { ROOT } from './installation.mjs';
import { EXIT, Interrupted, WrongSetting } from '../../packages/cli/src/usage.mjs';
import { Problem, steps } from './terminal.mjs';

export { nextSignal } from '../../packages/cli/src/signals.mjs';

export function dataDir() {
  return resolve(ROOT, process.env.DATA_DIR || '.sandbox');
}

/** The ports that the service takes unless a setting has another. One of metrics that is in use is replaced by a free one. */
const PORTS = { PORT: 3000, WIDGET_PORT: 3001, PAY_PORT: 3002, ADMIN_PORT: 3003, PORTAL_PORT: 3004 };

/** Throws for ports in use, before minutes of installation. The boot names a sandbox that already runs in the folder. */
export async function requireFreePorts(env = process.env) {
  if (existsSync(join(dataDir(), 'service.pid'))) return;
  const ports = Object.entries(PORTS).map(([name, port]) => [name, Number(env[name] || port)]);
  const free = await Promise.all(ports.map(([, port]) => isFree(port, env.HOST || '127.0.0.1')));
  const inUse = ports.filter((_, n) => !free[n]);
  if (inUse.length === 0) return;
  const sentences = inUse.map(
    ([name, port]) =>
      `Port ${port} is in use by another program: stop that one, or set ${name} to another port (0 for any free one).`,
  );
  throw new WrongSetting(sentences.join('\n'));
}

/** A port that is none is refused by the boot. */
function isFree(port, host) {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', ({ code }) => done(code !== 'EADDRINUSE'));
    if (!Number.isInteger(port) || port < 0 || port > 65_535) done(true);
    else server.listen({ port, host, exclusive: true }, () => server.close(() => done(true)));
  });
}

/**
 * Boots `node dist/main.js` and shows its steps. Returns, when it is ready, what is in sandbox.json, and the child.
 * A signal that comes before that ends the boot. Its log goes to DATA_DIR/service.log, so that the screen stays readable.
 */
export async function startService(signalled) {
  makeDataDir();
  const logFile = process.env.LOG_FILE || join(dataDir(), 'service.log');
  const logged = existsSync(logFile) ? statSync(logFile).size : 0;
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, ['--enable-source-maps', join(ROOT, 'dist', 'main.js')], {
    cwd: ROOT,
    // NODE_ENV of a shell does not change the mode: this command is the sandbox.
    env: { ...process.env, MODE: process.env.MODE || 'sandbox', DATA_DIR: dataDir(), LOG_FILE: logFile },
    stdio: ['ignore', log, log, 'ipc'],
    // A separate group: Ctrl-C reaches this command alone, which hands it on once.
    detached: true,
  });
  closeSync(log);
  const exited = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
  const service = { child, exited, logFile };
  steps.begin('Service');
  return new Promise((ready, failed) => {
    let isReady = false;
    let interruption = null;
    void signalled.then((name) => {
      if (isReady) return;
      interruption = new Interrupted(name, 'Stopped before it was ready; nothing is left running.');
      child.kill('SIGTERM');
    });
    child.on('error', (error) => failed(new Problem(`The service could not be started: ${error.message}`)));
    child.on('message', (message) => {
      if (message.type === 'started') steps.begin(message.step);
      else if (message.type === 'done') steps.done(message.step, message.note);
      else if (message.type === 'ready') {
        isReady = true;
        steps.done('Service', `ready, process ${child.pid}`);
        ready({ ...service, sandbox: message.sandbox, loginUrl: message.loginUrl });
      }
    });
    void exited.then(({ code, signal }) => failed(interruption ?? endOf(code, signal, logFile, logged)));
  });
}

/** Open for passing through: PostgreSQL may run as another user. */
function makeDataDir() {
  if (existsSync(dataDir())) return;
  mkdirSync(dataDir(), { recursive: true });
  chmodSync(dataDir(), 0o711);
}

/** Signals the service to end, and waits until it has drained. */
export async function stopService({ child, exited }) {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  await exited;
}

export function ending(code, signal) {
  return signal === null
    ? `The service ended with exit code ${code}.`
    : `The service was killed (${signal}).`;
}

/** The service ends with 78 (EX_CONFIG) or 69 (EX_UNAVAILABLE) when its last words are a sentence for the user. */
function endOf(code, signal, file, from) {
  const lines = readFileSync(file).subarray(from).toString().trim().split('\n');
  const isSentence = code === EXIT.setting || code === EXIT.unreachable;
  if (!isSentence)
    return new Problem(`${ending(code, signal)} The end of ${file}:\n\n${lines.slice(-15).join('\n')}`);
  const sentence = lines.filter((line) => !line.startsWith('{')).join('\n');
  return Object.assign(new Problem(sentence), { exitCode: code });
}
