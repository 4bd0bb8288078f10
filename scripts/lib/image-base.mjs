// The image that the Dockerfile begins with, for machines that reach Debian's and npm's mirrors but no registry of images.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './installation.mjs';
import { Problem, step } from './terminal.mjs';

/** No image can be built on this machine. */
export class NotPossible extends Problem {}

const EXTRA_CERTIFICATES = '/usr/local/share/extra-certificates.pem';

/** The image of Docker's library that the Dockerfile begins with. */
export function baseImage() {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const [, name, major, suite] = /^FROM (node:(\d+)-([a-z]+)-slim)/m.exec(dockerfile);
  return { name, major, suite };
}

/** Debian with Node and npm, as the Dockerfile's `FROM node:24-bookworm-slim` names them; created once per machine. */
export async function makeBase(run, succeeds) {
  const { major, suite, ...base } = baseImage();
  const name = `docker.io/library/${base.name}`;
  if (succeeds('buildah', 'inspect', '--type', 'image', name)) return name;
  if (!succeeds('debootstrap', '--version')) throw new NotPossible('The base image needs debootstrap, too.');
  const folder = mkdtempSync(join(tmpdir(), 'disburse-image-'));
  try {
    const root = join(folder, 'root');
    const mirror = mirrorOf(suite);
    await step('Debian', async () => {
      if (!succeeds('debootstrap', '--variant=minbase', suite, root, mirror))
        throw new NotPossible(`debootstrap cannot install ${suite} from ${mirror} here.`);
    });
    await step('Node', () => addNode(run, folder, root, major));
    await step('Base image', () => commit(run, root, name));
    return name;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addNode(run, folder, root, major) {
  const local = join(root, 'usr', 'local');
  const modules = join(local, 'lib', 'node_modules');
  mkdirSync(modules, { recursive: true });
  mkdirSync(join(local, 'etc'), { recursive: true });
  const node = unpack(run, folder, `node-linux-${process.arch}@${major}`);
  copyFileSync(join(node, 'bin', 'node'), join(local, 'bin', 'node'));
  renameSync(unpack(run, folder, 'npm@11'), join(modules, 'npm'));
  for (const each of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${each}-cli.js`, join(local, 'bin', each));
  }
  writeFileSync(join(local, 'etc', 'npmrc'), `registry=${run('npm', 'config', 'get', 'registry').trim()}\n`);
  run('chroot', root, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node');
  // Where a proxy re-signs connections, npm inside the build has to know its certificate.
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates) copyFileSync(certificates, join(root, EXTRA_CERTIFICATES));
}

function unpack(run, folder, spec) {
  const target = mkdtempSync(join(folder, 'package-'));
  const file = run('npm', 'pack', '--silent', '--pack-destination', folder, spec).trim();
  run('tar', 'xzf', join(folder, file), '-C', target, '--strip-components', '1', '--no-same-owner');
  return target;
}

function commit(run, root, name) {
  const container = run('buildah', 'from', 'scratch').trim();
  run('buildah', 'add', container, root, '/');
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const settings = ['--env', `PATH=${path}`, '--cmd', 'node'];
  if (existsSync(join(root, EXTRA_CERTIFICATES))) {
    settings.push('--env', `NODE_EXTRA_CA_CERTS=${EXTRA_CERTIFICATES}`);
  }
  run('buildah', 'config', ...settings, container);
  run('buildah', 'commit', '--rm', container, name);
}

/** The mirror from which this machine installs the suite. */
function mirrorOf(suite) {
  const folder = '/etc/apt/sources.list.d';
  const files = ['/etc/apt/sources.list', ...(existsSync(folder) ? readdirSync(folder) : [])]
    .map((name) => (name.startsWith('/') ? name : join(folder, name)))
    .filter(existsSync);
  for (const file of files) {
    for (const entry of readFileSync(file, 'utf8').split(file.endsWith('.sources') ? /\n\s*\n/ : '\n')) {
      const uri = /^(?:URIs:|deb(?:\s+\[[^\]]*\])?)\s*(\S+)/m.exec(entry)?.[1];
      const suites = (/^Suites:(.*)$/m.exec(entry)?.[1] ?? entry.split(uri)[1] ?? '').split(/\s+/);
      if (uri !== undefined && suites.includes(suite)) return uri;
    }
  }
  throw new NotPossible(
    `No source of apt on this machine has Debian's ${suite}: the base image is built from it.`,
  );
}
