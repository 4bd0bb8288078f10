import { DomainError } from '../../../kernel/domain-error.js';
import { SealError } from '../../../platform/sealing/sealer.js';
import { providerCalls, providerSeconds } from '../onboarding.metrics.js';
import type { Port } from '../onboarding.config.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';

const failing = new Set<string>();

/** Checks whether the last call in this process failed. A refusal counts as success. */
export function isFailing(port: string): boolean {
  return failing.has(port);
}

export async function measureCall<T>(port: Port, call: () => Promise<T>): Promise<T> {
  const stop = providerSeconds.startTimer({ port });
  try {
    const result = await call();
    providerCalls.inc({ port, outcome: 'done' });
    failing.delete(port);
    return result;
  } catch (error) {
    const isRefused = error instanceof ProviderRefused;
    providerCalls.inc({ port, outcome: isRefused ? 'refused' : 'failed' });
    if (isRefused) failing.delete(port);
    else failing.add(port);
    throw error;
  } finally {
    stop();
  }
}

/**
 * Describes an error for operators. Messages of foreign code may contain personal data, so only the error's name is returned.
 */
export function describeError(error: unknown): string {
  const isOurs = [DomainError, ProviderUnavailable, SealError].some((ours) => error instanceof ours);
  if (isOurs) return (error as Error).message;
  const { name = 'Error', code } = error as { readonly name?: string; readonly code?: unknown };
  return `unexpected: ${name}${typeof code === 'string' ? ` (${code})` : ''}`;
}

export function whereFrom(error: unknown): string | undefined {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.filter((line) => /^\s+at /.test(line)).join('\n') || undefined;
}
