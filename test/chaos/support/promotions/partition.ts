import { spawnSync } from 'node:child_process';

const TABLE = `disburse_promotions_${process.pid}`;

/** Whether this user can cut a server off. */
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

export function heal(): void {
  nft(`add table inet ${TABLE}; delete table inet ${TABLE}`);
}

function nft(rules: string): void {
  const { status, stderr } = spawnSync('nft', ['-f', '-'], { input: rules, encoding: 'utf8' });
  if (status !== 0) throw new Error(`nft: ${stderr}`);
}
