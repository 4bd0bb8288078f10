import { textAt, type Field, type Row } from '../fields.js';
import type { Related } from '../resource.js';

const DISABLED_BY: Readonly<Record<string, string>> = {
  merchant: 'the merchant',
  gone: 'a response with 410',
  failing: 'sustained failures',
};

/** What matters of a webhook endpoint. */
export const ENDPOINT_FIELDS: readonly Field[] = [
  { label: 'URL', of: 'url' },
  { label: 'Status', of: 'status', as: 'status' },
  { label: 'Failures', of: 'failure_count', as: 'number' },
  { label: 'Disabled by', of: (row) => DISABLED_BY[textAt(row, 'disabled_cause')] },
  { label: 'Disabled', of: 'disabled_at', as: 'time' },
];

/** Whether deliveries to it fail now, or were stopped for that. */
export function isFailing(row: Row): boolean {
  const cause = textAt(row, 'disabled_cause');
  return Number(row['failure_count'] ?? 0) > 0 || cause === 'failing' || cause === 'gone';
}

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'dropped'];

/** Of a delivery. */
export const ATTEMPTS: Related = {
  title: 'Attempts',
  rows: 'attempts',
  empty: 'Nothing has been sent yet.',
  fields: [
    { label: 'Attempt', of: 'attempt', as: 'number' },
    { label: 'Started', of: 'started_at', as: 'time' },
    { label: 'Outcome', of: 'outcome', as: 'status' },
    { label: 'Status', of: 'http_status', as: 'status', none: 'no response' },
    { label: 'Latency', of: 'latency_ms', as: 'ms' },
    { label: 'Failed at', of: 'error_class' },
    { label: 'Error', of: 'error' },
    { label: 'Response begins', of: 'response_excerpt', as: 'block' },
  ],
};

/** A row of the log of requests. */
export const REQUEST_FIELDS: readonly Field[] = [
  { label: 'At', of: 'at', as: 'time' },
  { label: 'Method', of: 'method' },
  { label: 'Path', of: 'path' },
  { label: 'Status', of: 'status', as: 'status' },
  { label: 'Duration', of: 'duration_ms', as: 'ms' },
  { label: 'Refusal', of: 'refusal' },
];
