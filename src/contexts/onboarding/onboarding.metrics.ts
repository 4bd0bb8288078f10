import { Counter, Gauge, Histogram } from 'prom-client';
import { ProviderRefused } from '../../platform/outbound/provider-errors.js';
import { registers, SECONDS } from '../../platform/telemetry/metrics.js';
import type { Port } from './onboarding.config.js';

export const onboardings = new Gauge({
  name: 'disburse_onboardings',
  help: 'Onboardings that are not over, by stage. kyc_submitted is under review, kyc_failed and card_failed have failed.',
  labelNames: ['stage'] as const,
  registers,
});

export const oldestOnboarding = new Gauge({
  name: 'disburse_onboardings_oldest_seconds',
  help: 'Age of the oldest onboarding of a stage, by stage.',
  labelNames: ['stage'] as const,
  registers,
});

const providerCalls = new Counter({
  name: 'disburse_onboarding_provider_calls_total',
  help: 'Calls of the providers of onboarding, by port (sms, identity, wallet, card) and outcome: done, refused (for good), failed (retried).',
  labelNames: ['port', 'outcome'] as const,
  registers,
});

const providerSeconds = new Histogram({
  name: 'disburse_onboarding_provider_duration_seconds',
  help: 'Time of one call of a provider of onboarding, by port.',
  labelNames: ['port'] as const,
  buckets: SECONDS,
  registers,
});

export const identityCallbacks = new Counter({
  name: 'disburse_identity_callbacks_total',
  help: 'Callbacks of identity providers, by outcome: accepted, unknown_check, and refused ones: unknown_provider, forged, malformed, expired.',
  labelNames: ['outcome'] as const,
  registers,
});

export const providers = new Gauge({
  name: 'disburse_onboarding_providers',
  help: '1 for each port (sms, identity, wallet, card) and who is configured for it; none where no provider is, and onboardings wait.',
  labelNames: ['port', 'provider'] as const,
  registers,
});

/** The ports whose last call in this process failed. A refusal counts as success. */
export const failingPorts = new Set<Port>();

export async function measureCall<T>(port: Port, call: () => Promise<T>): Promise<T> {
  const stop = providerSeconds.startTimer({ port });
  let outcome = 'done';
  try {
    return await call();
  } catch (error) {
    outcome = error instanceof ProviderRefused ? 'refused' : 'failed';
    throw error;
  } finally {
    providerCalls.inc({ port, outcome });
    if (outcome === 'failed') failingPorts.add(port);
    else failingPorts.delete(port);
    stop();
  }
}
