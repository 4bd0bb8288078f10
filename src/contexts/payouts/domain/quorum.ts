import type { Finding } from './verification.js';

/**
 * What at least `quorum` looks at the chain say alike, each from a node of its own; null when there is no such finding,
 * or when there are two. A look without a finding has no vote.
 */
export function quorumFinding(findings: readonly (Finding | null)[], quorum: number): Finding | null {
  const given = findings.filter((finding) => finding !== null);
  const nameOf = (finding: Finding): string =>
    finding.kind === 'settled' ? JSON.stringify(finding) : finding.kind;
  return agreeing(given, nameOf, quorum)[0] ?? null;
}

/** The votes of one name, at least `quorum` of them; none when no name has as many, or when two have. */
export function agreeing<Vote>(
  votes: readonly Vote[],
  nameOf: (vote: Vote) => string,
  quorum: number,
): readonly Vote[] {
  const byName = new Map<string, Vote[]>();
  for (const vote of votes) byName.set(nameOf(vote), [...(byName.get(nameOf(vote)) ?? []), vote]);
  const enough = [...byName.values()].filter((alike) => alike.length >= quorum);
  return enough.length === 1 ? enough[0]! : [];
}

/** The first look after the window, kept until another one agrees with it. */
export interface Closing {
  readonly finding: string;
  readonly head: number;
  readonly at: Date;
}

/** The name under which a finding is compared with one of another time: a transfer that the final head comes nearer to is not lost. */
export function closingName(finding: Finding): string {
  return finding.kind === 'confirming' ? `confirming ${finding.blocks}` : finding.kind;
}

/** Whether a finding after the window is the second of two that agree, from another time and, where blocks tell it, another block. */
export function isSecondCheck(
  first: Closing | null,
  second: Closing,
  rules: { readonly apartMs: number; readonly mindsBlocks: boolean },
): boolean {
  if (first === null || first.finding !== second.finding) return false;
  if (second.at.getTime() - first.at.getTime() < rules.apartMs) return false;
  return !rules.mindsBlocks || second.head > first.head;
}
