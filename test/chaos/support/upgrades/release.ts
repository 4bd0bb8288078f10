import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** Returns the newest tag before this commit. Throws without one. */
export function newestTag(): string {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', 'HEAD^'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error('there is no tag before this commit: name a commit with --from');
  return stdout.trim();
}

/** Builds the version of a commit or tag in `folder` and returns its program. */
export function buildRelease(ref: string, folder: string): string {
  mkdirSync(folder);
  const archive = join(folder, 'release.tar');
  execFileSync('git', ['archive', '--output', archive, ref], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive], { cwd: folder });
  const run = (...args: string[]): unknown => execFileSync('npm', args, { cwd: folder, stdio: 'pipe' });
  if (hasSameDependencies(ref)) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else run('ci', '--no-audit', '--no-fund');
  run('run', 'build');
  return join(folder, 'dist', 'main.js');
}

function hasSameDependencies(ref: string): boolean {
  return spawnSync('git', ['diff', '--quiet', ref, '--', 'package-lock.json'], { cwd: ROOT }).status === 0;
}
