import { spawnSync } from 'node:child_process';
import { isAlive } from '../../../sandbox/processes.js';

const PREFIX = 'disburse_chaos_';
const TABLE = `${PREFIX}${process.pid}`;

/** A server with a separate group and address for packet filters. */
export interface Host {
  readonly gid: number | undefined;
  readonly host: string;
}

export const canPartition = (): boolean =>
  process.getuid?.() === 0 && spawnSync('nft', ['list', 'tables']).status === 0;

/** Drops packets from and to this port of 127.0.0.1, also in open connections. */
export function cutOff(port: number): void {
  nft(`table inet ${TABLE} {
    chain lost {
      type filter hook input priority 0; policy accept;
      ip daddr 127.0.0.1 tcp dport ${port} drop
      ip saddr 127.0.0.1 tcp sport ${port} drop
    }
  }`);
}

/** Drops all packets between the server and other processes, also in open connections. */
export function isolate({ gid, host }: Host): void {
  nft(`table inet ${TABLE} {
    chain lost {
      type filter hook output priority 0; policy accept;
      meta skgid ${gid} ip daddr != ${host} drop
      meta skgid != ${gid} ip daddr ${host} drop
    }
  }`);
}

/** Removes the filters, also those of killed runs. */
export function heal(): void {
  const { stdout } = spawnSync('nft', ['list', 'tables'], { encoding: 'utf8' });
  for (const [table, pid] of stdout.matchAll(new RegExp(`${PREFIX}(\\d+)`, 'g')))
    if (table === TABLE || !isAlive(Number(pid))) nft(`delete table inet ${table}`);
}

function nft(rules: string): void {
  const { status, stderr } = spawnSync('nft', ['-f', '-'], { input: rules, encoding: 'utf8' });
  if (status !== 0) throw new Error(`nft: ${stderr}`);
}
