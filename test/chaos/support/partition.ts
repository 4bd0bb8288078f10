import { spawnSync } from 'node:child_process';

const TABLE = `disburse_chaos_${process.pid}`;

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

/** The first server and the others do not reach each other any more; clients reach all of them. */
export function split(one: Host, others: readonly Host[]): void {
  const gids = others.map(({ gid }) => gid).join(', ');
  const hosts = others.map(({ host }) => host).join(', ');
  nft(`table inet ${TABLE} {
    chain lost {
      type filter hook output priority 0; policy accept;
      meta skgid ${one.gid} ip daddr { ${hosts} } drop
      meta skgid { ${gids} } ip daddr ${one.host} drop
    }
  }`);
}

export function heal(): void {
  nft(`add table inet ${TABLE}; delete table inet ${TABLE}`);
}

function nft(rules: string): void {
  const { status, stderr } = spawnSync('nft', ['-f', '-'], { input: rules, encoding: 'utf8' });
  if (status !== 0) throw new Error(`nft: ${stderr}`);
}
