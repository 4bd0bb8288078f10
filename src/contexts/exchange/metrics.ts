import { Counter, Gauge, Histogram } from 'prom-client';
import { registers, SECONDS } from '../../platform/telemetry/metrics.js';

export const providerDuration = new Histogram({
  name: 'disburse_exchange_provider_duration_seconds',
  help: 'Time of one call of an exchange provider, by provider and operation: quote, create, status, settle, cancel, ping.',
  labelNames: ['provider', 'operation'] as const,
  buckets: SECONDS,
  registers,
});

export const providerErrors = new Counter({
  name: 'disburse_exchange_provider_errors_total',
  help: 'Calls of an exchange provider that gave nothing, by provider, operation and kind: away, later (by its own rules not yet), contradiction (it answered what it must not), refused (it will never accept it), invalid (an amount outside its limits), unexpected.',
  labelNames: ['provider', 'operation', 'kind'] as const,
  registers,
});

export const orderEvents = new Counter({
  name: 'disburse_exchange_order_events_total',
  help: 'Events of exchange orders that the watch of this process took up, by type: how many were made, completed, expired and so on.',
  labelNames: ['type'] as const,
  registers,
});

export const openOrders = new Gauge({
  name: 'disburse_exchange_orders',
  help: 'Exchange orders that have not ended, by status.',
  labelNames: ['status'] as const,
  registers,
});

export const owedOrders = new Gauge({
  name: 'disburse_exchange_orders_owed',
  help: 'Exchange orders with money that has to be given back (npm run exchange -- orders --owed).',
  registers,
});

export const shortfallOrders = new Gauge({
  name: 'disburse_exchange_orders_shortfall',
  help: 'Exchange orders that were exchanged or refunded, and whose deposits are no longer on the chain (npm run exchange -- orders --shortfall).',
  registers,
});

export const watchBacklog = new Gauge({
  name: 'disburse_exchange_watch_backlog',
  help: 'Exchange orders that should have been looked up at their provider 10 seconds ago, and were not.',
  registers,
});

export const watchBacklogAge = new Gauge({
  name: 'disburse_exchange_watch_backlog_age_seconds',
  help: 'For how long the first of these orders has waited.',
  registers,
});
