import type { Resource } from '../../kit/resource.js';
import { credentials } from './credentials.js';
import { merchants } from './merchants.js';
import { orders, payouts } from './money.js';
import { operations } from './operations.js';
import { operators, users } from './people.js';
import { deliveries, requests, webhookEndpoints } from './webhooks.js';

export const RESOURCES: readonly Resource[] = [
  operations,
  payouts,
  orders,
  users,
  merchants,
  credentials,
  webhookEndpoints,
  deliveries,
  requests,
  operators,
];
