import { spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFileAt } from '../mounted-file.js';

/** On loopback; no other program uses it. */
const ADDRESS = '127.0.53.53';

/** A DNS server that never responds, for processes with an /etc/resolv.conf that names it. */
export class DeadDns {
  private constructor(
    private readonly socket: Socket,
    private readonly resolvConf: string,
  ) {}

  /** Null without mount namespaces or port 53: on Linux both need root. */
  static async start(dir: string): Promise<DeadDns | null> {
    if (spawnSync('unshare', ['-m', 'true']).status !== 0) return null;
    const socket = createSocket('udp4');
    const bound = await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind(53, ADDRESS, () => resolve(true));
    });
    if (!bound) return null;
    mkdirSync(dir, { recursive: true });
    const resolvConf = join(dir, 'resolv.conf');
    writeFileSync(resolvConf, `nameserver ${ADDRESS}\n`);
    return new DeadDns(socket, resolvConf);
  }

  /** The command, for a process that resolves names here. It keeps its pid. */
  wrapped(command: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
    return withFileAt('/etc/resolv.conf', this.resolvConf, command);
  }

  stop(): void {
    this.socket.close();
  }
}
