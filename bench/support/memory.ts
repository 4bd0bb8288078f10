import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export function residentMiB(pid: number): number {
  try {
    const kib = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Math.round(Number(kib![1]) / 1024);
  } catch {
    return Math.round(
      Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024,
    );
  }
}

/** The peak resident memory of a process in MiB; 0 once it has ended. Linux only. */
export function peakMiB(pid: number): number {
  try {
    const kib = /^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Math.round(Number(kib?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
