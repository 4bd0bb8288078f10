/** Whether the instant has come; both in ISO 8601. */
export function isOver(end: string, now: string): boolean {
  return Date.parse(end) <= Date.parse(now);
}

/** When a credential ends that is replaced at `at`: after the overlap, or with its own expiry if that is earlier. */
export function rolledUntil(at: string, overlapSeconds: number, expiresAt: string | null): string {
  const end = new Date(Date.parse(at) + overlapSeconds * 1000).toISOString();
  return expiresAt !== null && Date.parse(expiresAt) < Date.parse(end) ? expiresAt : end;
}
