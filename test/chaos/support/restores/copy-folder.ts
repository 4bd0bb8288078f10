import { chown, copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Copies a folder with owners and modes, without files that a running server removes meanwhile. */
export async function copyFolder(
  from: string,
  to: string,
  isCopied: (path: string) => boolean = () => true,
  path = '',
): Promise<void> {
  const folder = join(from, path);
  const { uid, gid, mode } = await stat(folder);
  await mkdir(join(to, path), { recursive: true, mode });
  await chown(join(to, path), uid, gid);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (!isCopied(below)) continue;
    try {
      if (entry.isDirectory()) await copyFolder(from, to, isCopied, below);
      else await copyOwnedFile(join(from, below), join(to, below));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

async function copyOwnedFile(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { uid, gid } = await stat(from);
  await chown(to, uid, gid);
}

/** Writes a file with the owner of its folder. */
export async function writeOwnedFile(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  const { uid, gid } = await stat(dirname(path));
  await chown(path, uid, gid);
}
