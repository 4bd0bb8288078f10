import { Counter, Gauge, Histogram } from 'prom-client';
import { registers, SECONDS } from '../../platform/telemetry/metrics.js';

const gauge = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
  new Gauge({ name: `disburse_exchange_${name}`, help, labelNames, registers });
const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
  new Counter({ name: `disburse_exchange_${name}`, help, labelNames, registers });

export const providerDuration = new Histogram({
  name: 'disburse_exchange_provider_duration_seconds',
  help: 'Time of one call of an exchange provider, by provider and operation: quote, create, status, settle, cancel.',
  labelNames: ['provider', 'operation'] as const,
  buckets: SECONDS,
  registers,
});

export const providerErrors = counter(
  'provider_errors_total',
  'Failed calls of an exchange provider, by provider, operation and kind: unavailable, later (not yet, by its own rules), contradiction (its response contradicts the order), refused (it will never accept it), invalid (an amount outside its limits), unexpected.',
  ['provider', 'operation', 'kind'],
);

export const orderEvents = counter(
  'order_events_total',
  'Events of exchange orders that this process has logged, by type.',
  ['type'],
);

export const openOrders = gauge('orders', 'Exchange orders that have not ended, by status.', ['status']);

export const refundableOrders = gauge(
  'orders_refundable',
  'Exchange orders with a refundable amount (npm run admin -- orders list --refundable).',
);
export const shortfallOrders = gauge(
  'orders_shortfall',
  'Exchange orders that were exchanged or refunded, and whose deposits are no longer on the chain (npm run exchange -- recheck).',
);
