#!/usr/bin/env node
// npm run image: builds the Dockerfile, starts what was built as a sandbox, runs its health check and says how large it is.
// With Docker where it runs, else with buildah on a base image that is created here (scripts/lib/image-base.mjs).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../test/support/jest/test-run.mjs';
import { makeBase } from './lib/image-base.mjs';
import { ROOT } from './lib/installation.mjs';
import { complain, Problem, step } from './lib/terminal.mjs';

const IMAGE = 'disburse';
const HEALTHY_WITHIN_MS = 120_000;
const HEALTHCHECK = ['node', 'scripts/healthcheck.mjs'];
/** buildah needs neither a daemon nor kernel modules with these. */
const env = { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' };

try {
  if (succeeds('docker', 'info')) await withDocker();
  else if (succeeds('buildah', '--version')) await withBuildah();
  else throw new Problem('Building the image needs Docker, or buildah and debootstrap (apt-get install).');
} catch (error) {
  complain(error);
}

async function withDocker() {
  await step('Build', () => run('docker', 'build', '--tag', IMAGE, ROOT));
  const container = run('docker', 'run', '--detach', '--rm', '--env', 'MODE=sandbox', IMAGE).trim();
  try {
    await step('Health', () => healthy(() => succeeds('docker', 'exec', container, ...HEALTHCHECK)));
  } finally {
    run('docker', 'stop', container);
  }
  const bytes = run('docker', 'image', 'inspect', '--format', '{{.Size}}', IMAGE);
  await step('Size', async () => `${Math.round(Number(bytes) / 1e6)} MB`);
}

async function withBuildah() {
  await makeBase(run, succeeds);
  // Docker's format, because the other has no health check.
  const options = ['--format', 'docker', '--pull-never', '--layers=false', '--tag', IMAGE];
  await step('Build', () => void run('buildah', 'build', ...options, ROOT));
  const container = run('buildah', 'from', '--pull-never', IMAGE).trim();
  try {
    const inside = await settingsInside();
    const { Cmd } = JSON.parse(run('buildah', 'inspect', container)).Docker.config;
    const service = spawn('buildah', ['run', ...inside, container, '--', ...Cmd], {
      env,
      stdio: 'ignore',
    });
    const ended = once(service, 'exit');
    try {
      await step('Health', () =>
        healthy(() => {
          if (service.exitCode !== null) throw new Problem(`The service ended with ${service.exitCode}.`);
          return succeeds('buildah', 'run', ...inside, container, '--', ...HEALTHCHECK);
        }),
      );
    } finally {
      await step('End', async () => {
        // buildah hands no signal on to what it runs.
        const processes = descendantsOf([service.pid]);
        process.kill(
          processes.findLast((pid) => commandOf(pid).endsWith(Cmd.slice(1).join(' '))),
          'SIGTERM',
        );
        await ended;
      });
    }
  } finally {
    run('buildah', 'rm', container);
  }
  await step('Size', async () => run('buildah', 'images', '--format', '{{.Size}}', IMAGE).trim());
}

/** buildah runs on the network of the machine: loopback and free ports alone. */
async function settingsInside() {
  const names = ['PORT', 'WIDGET_PORT', 'PAY_PORT', 'ADMIN_PORT', 'PORTAL_PORT', 'METRICS_PORT'];
  const servers = names.map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = names.map((name, n) => `${name}=${servers[n].address().port}`);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  const settings = ['MODE=sandbox', 'HOST=127.0.0.1', ...ports];
  return ['--user', 'node', ...settings.flatMap((each) => ['--env', each])];
}

async function healthy(check) {
  const deadline = performance.now() + HEALTHY_WITHIN_MS;
  while (!check()) {
    if (performance.now() > deadline)
      throw new Problem('The service did not become healthy within 2 minutes.');
    await sleep(500);
  }
}

function commandOf(pid) {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1).join(' ');
}

/** What the program printed. */
function run(command, ...args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status === 0) return stdout;
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-40).join('\n');
  throw new Problem(`${command} ${args[0]} failed:\n\n${error?.message ?? said}`);
}

function succeeds(command, ...args) {
  return spawnSync(command, args, { env, stdio: 'ignore' }).status === 0;
}
