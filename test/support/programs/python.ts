import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemProgram } from './system-program.js';

const PACKAGE = fileURLToPath(new URL('../../../packages/python', import.meta.url));
const IS_NEW_ENOUGH = 'import sys; sys.exit(sys.version_info < (3, 11))';

/** A Python that packages/python supports, with the client in its environment. Null without one (logged). */
export function pythonOf(): { readonly path: string; readonly env: Record<string, string> } | null {
  const path = systemProgram('python3');
  if (path === null) return null;
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, PYTHONPATH: `${PACKAGE}/src`, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' };
  if (spawnSync(path, ['-c', IS_NEW_ENOUGH], { env }).status === 0) return { path, env };
  console.warn('python3 is older than 3.11: what needs it is left out');
  return null;
}

export function requiredPython(): NonNullable<ReturnType<typeof pythonOf>> {
  const python = pythonOf();
  if (python === null) throw new Error('there is no python3 from 3.11 on');
  return python;
}
