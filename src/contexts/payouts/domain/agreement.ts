import type { Finding } from './verification.js';

/**
 * What at least `quorum` looks at the chain say alike, each from a node of its own; null when there is no such finding,
 * or when there are two. A look without a finding has no vote.
 */
export function agreement(findings: readonly (Finding | null)[], quorum: number): Finding | null {
  const votes = new Map<string, Finding[]>();
  for (const finding of findings) {
    if (finding === null) continue;
    const vote = finding.kind === 'settled' ? JSON.stringify(finding) : finding.kind;
    votes.set(vote, [...(votes.get(vote) ?? []), finding]);
  }
  const enough = [...votes.values()].filter((alike) => alike.length >= quorum);
  return enough.length === 1 ? enough[0]![0]! : null;
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
export function isSecondLook(
  first: Closing | null,
  second: Closing,
  rules: { readonly apartMs: number; readonly mindsBlocks: boolean },
): boolean {
  if (first === null || first.finding !== second.finding) return false;
  if (second.at.getTime() - first.at.getTime() < rules.apartMs) return false;
  return !rules.mindsBlocks || second.head > first.head;
}
