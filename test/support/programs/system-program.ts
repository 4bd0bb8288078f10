import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { runFolder } from '../run-folder.js';

const INSTALL_MS = 300_000;

/**
 * Path of a program of the system that some suites want. Debian's package is installed when it is missing and this is
 * root, unless it is null. Null when there is none and it cannot be had: says so, and the suite is skipped.
 */
export function systemProgram(command: string, debianPackage: string | null = command): string | null {
  const path = find(command) ?? (debianPackage === null ? null : install(command, debianPackage));
  if (path === null) console.warn(`${command} is not installed and cannot be: what needs it is left out`);
  return path;
}

function find(command: string): string | null {
  const found = spawnSync('sh', ['-c', `command -v ${command}`], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : null;
}

function install(command: string, debianPackage: string): string | null {
  if (process.getuid?.() !== 0 || find('apt-get') === null) return null;
  const apt = `apt-get update -qq; apt-get install -y -qq --no-install-recommends ${debianPackage}`;
  // Suites of several workers may find it missing at once, and apt serves one at a time.
  spawnSync('flock', [join(runFolder(), 'apt.lock'), 'sh', '-c', `command -v ${command} || { ${apt}; }`], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: INSTALL_MS,
  });
  return find(command);
}
