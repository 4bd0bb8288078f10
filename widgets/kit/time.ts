const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats a time as `2026-11-22 14:03:11`, in UTC. */
export function utc(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : date.toISOString().slice(0, 19).replace('T', ' ');
}

/** Formats a time in UTC, without the year if that is the current one. */
export function shortUtc(at: string, now: number): string {
  const text = utc(at);
  const year = `${new Date(now).getUTCFullYear()}-`;
  return text.startsWith(year) ? text.slice(year.length) : text;
}

/** Formats a time in UTC on an axis with marks every `step` seconds: `14:03`, `14:03:30` or `11-22`. */
export function axisTime(seconds: number, step: number): string {
  const text = new Date(seconds * 1000).toISOString();
  if (step >= 86_400 || (step >= 3_600 && seconds % 86_400 === 0)) return text.slice(5, 10);
  return text.slice(11, step >= 60 ? 16 : 19);
}

/** The range of the time axis in seconds. uPlot alone gives a single point 1000 days. */
export function axisRange(times: readonly number[], now: number): [number, number] {
  const end = times.at(-1) ?? now;
  return [Math.min(times[0] ?? end, end - 60), end];
}

/** Formats the two largest units of a time span, such as `3 h 5 min`. */
export function span(ms: number): string {
  let rest = Math.round(Math.abs(ms) / 1000);
  const parts: string[] = [];
  for (const [unit, seconds] of UNITS) {
    const count = Math.floor(rest / seconds);
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    rest -= count * seconds;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 s';
}

/** Formats a relative time in one unit, rounded down: `3 min ago`, `in 2 h`. */
export function relative(at: string, now: number): string {
  const ms = Date.parse(at) - now;
  if (Number.isNaN(ms)) return '';
  const seconds = Math.abs(ms) / 1000;
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1];
  if (seconds < 5) return 'now';
  const length = `${Math.floor(seconds / size)} ${unit}`;
  return ms < 0 ? `${length} ago` : `in ${length}`;
}
