import { spawnSync } from 'node:child_process';
import { isAlive } from '../../../sandbox/processes.js';

const PREFIX = 'disburse_chaos_';
const TABLE = `${PREFIX}${process.pid}`;

/** A server as its packets show it: its processes have a separate group, and a separate address. */
export interface Host {
  readonly gid: number | undefined;
  readonly host: string;
}

/** Whether this user can cut servers off. */
export function canPartition(): boolean {
  return process.getuid?.() === 0 && spawnSync('nft', ['list', 'tables']).status === 0;
}

/** Packets from and to that port of 127.0.0.1 are lost, in connections that are open too. */
export function cutOff(port: number): void {
  nft(`table inet ${TABLE} {
    chain lost {
      type filter hook input priority 0; policy accept;
      ip daddr 127.0.0.1 tcp dport ${port} drop
      ip saddr 127.0.0.1 tcp sport ${port} drop
    }
  }`);
}

/** No packet passes between the server and any other process, in connections that are open too. */
export function isolate({ gid, host }: Host): void {
  nft(`table inet ${TABLE} {
    chain lost {
      type filter hook output priority 0; policy accept;
      meta skgid ${gid} ip daddr != ${host} drop
      meta skgid != ${gid} ip daddr ${host} drop
    }
  }`);
}

/** Also after runs that were killed. */
export function heal(): void {
  const { stdout } = spawnSync('nft', ['list', 'tables'], { encoding: 'utf8' });
  for (const [table, pid] of stdout.matchAll(new RegExp(`${PREFIX}(\\d+)`, 'g')))
    if (table === TABLE || !isAlive(Number(pid))) nft(`delete table inet ${table}`);
}

function nft(rules: string): void {
  const { status, stderr } = spawnSync('nft', ['-f', '-'], { input: rules, encoding: 'utf8' });
  if (status !== 0) throw new Error(`nft: ${stderr}`);
}
