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

export const scans = new Counter({
  name: 'disburse_exchange_scans_total',
  help: 'Looks at the chain for deposits, by outcome: stored, lost (to another process), unavailable (no node can be relied on), reorganised, halted (needs an operator).',
  labelNames: ['outcome'] as const,
  registers,
});

export const scanLagBlocks = new Gauge({
  name: 'disburse_exchange_scan_lag_blocks',
  help: 'Final blocks that are not scanned for deposits yet, at the last look.',
  registers,
});

export const scanSilence = new Gauge({
  name: 'disburse_exchange_scan_silence_seconds',
  help: 'Time since the last look at the chain for deposits that was stored, by whatever process.',
  registers,
});

export const scannedTransfers = new Counter({
  name: 'disburse_exchange_deposits_total',
  help: 'Transfers to deposit addresses, by outcome: stored, ignored (too small, too many small ones, or more than there is), missing (gone from the chain after they were stored).',
  labelNames: ['outcome'] as const,
  registers,
});
