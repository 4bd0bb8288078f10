// Docker and buildah, with what scripts/image.mjs needs of them. Containers are on the network of the machine.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../../test/support/jest/test-run.mjs';
import { baseImage, makeBase, NotPossible } from './image-base.mjs';
import { ROOT } from './installation.mjs';
import { Problem } from './terminal.mjs';

const IMAGE = 'disburse';
/** The uid of `node` in the image. */
const USER = '1000:1000';
/** buildah needs neither a daemon nor kernel modules with these. */
const env = { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' };

/** What runs on this machine; null if neither does. */
export function imageEngine() {
  if (succeeds('docker', 'info')) return docker;
  return succeeds('buildah', '--version') ? buildah : null;
}

const docker = {
  prepare: async () => {
    const { name: base } = baseImage();
    if (!succeeds('docker', 'pull', base)) throw new NotPossible(`Docker cannot get ${base} here.`);
  },
  build: (args) => run('docker', 'build', ...args, '--tag', IMAGE, ROOT),
  size: () =>
    `${Math.round(Number(run('docker', 'image', 'inspect', '--format', '{{.Size}}', IMAGE)) / 1e6)} MB`,
  start: (settings, { readOnly }) => {
    const limits = readOnly ? ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'] : [];
    const options = ['--detach', '--network', 'host', ...limits, ...asOptions(settings)];
    const id = run('docker', 'run', ...options, IMAGE).trim();
    const inspected = (field) => run('docker', 'inspect', '--format', `{{.State.${field}}}`, id).trim();
    return {
      isAlive: () => inspected('Running') === 'true',
      exec: (...command) => run('docker', 'exec', id, ...command),
      stop: async () => {
        run('docker', 'stop', '--time', '40', id);
        const code = Number(inspected('ExitCode'));
        const { stdout, stderr } = spawnSync('docker', ['logs', '--tail', '40', id], { encoding: 'utf8' });
        run('docker', 'rm', '--volumes', id);
        return { code, log: stdout + stderr };
      },
    };
  },
};

const buildah = {
  prepare: async () => {
    const base = await makeBase(run, succeeds);
    const container = run('buildah', 'from', '--pull-never', base).trim();
    const isAllowed =
      succeeds('buildah', 'run', container, '--', 'true') && succeeds('unshare', '--mount', 'true');
    run('buildah', 'rm', container);
    if (!isAllowed) throw new NotPossible('This machine lets buildah run nothing in a container.');
  },
  // Docker's format, because the other has no health check.
  build: (args) =>
    run(
      'buildah',
      'build',
      ...args,
      '--format',
      'docker',
      '--pull-never',
      '--layers=false',
      '--tag',
      IMAGE,
      ROOT,
    ),
  size: () => run('buildah', 'images', '--format', '{{.Size}}', IMAGE).trim(),
  start: (settings, { readOnly }) => {
    const container = run('buildah', 'from', '--pull-never', IMAGE).trim();
    const { Cmd } = JSON.parse(run('buildah', 'inspect', container)).Docker.config;
    const root = run('buildah', 'mount', container).trim();
    const inside = ['run', '--user', 'node', ...asOptions(settings), container, '--'];
    const child = readOnly
      ? spawn('unshare', ['--mount', 'sh', '-c', onReadOnlyRoot(root, Cmd)], {
          env: { ...imageEnv(container), ...settings },
        })
      : spawn('buildah', [...inside, ...Cmd], { env });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
    const ended = once(child, 'exit');
    return {
      isAlive: () => child.exitCode === null && child.signalCode === null,
      exec: (...command) => run('buildah', ...inside, ...command),
      stop: async () => {
        // buildah hands no signal on to what it runs.
        const ofService = (pid) => commandOf(pid).endsWith(Cmd.slice(1).join(' '));
        const pid = descendantsOf([child.pid]).findLast(ofService);
        if (pid !== undefined) process.kill(pid, 'SIGTERM');
        const [code] = await Promise.race([ended, sleep(40_000, [null], { ref: false })]);
        if (code === null) for (const each of descendantsOf([child.pid])) process.kill(each, 'SIGKILL');
        run('buildah', 'rm', container);
        return { code, log: said.split('\n').slice(-40).join('\n') };
      },
    };
  },
};

const asOptions = (settings) =>
  Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);

/** Variables that the Dockerfile sets. */
function imageEnv(container) {
  const { Env } = JSON.parse(run('buildah', 'inspect', container)).Docker.config;
  return Object.fromEntries(
    Env.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
}

/** buildah cannot do this. The mounts are in a namespace of their own and go with the process. */
function onReadOnlyRoot(root, command) {
  return [
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -o remount,bind,ro ${root}`,
    `exec chroot --userspec=${USER} ${root} /bin/sh -c 'cd /app && exec ${command.join(' ')}'`,
  ].join(' && ');
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1).join(' ');
  } catch {
    return '';
  }
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
