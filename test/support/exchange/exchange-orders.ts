import { expect } from 'expect';
import type { OrderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import type { ApiResponse } from '../http/signed-client.js';

export { ADDRESS, OTHER_ADDRESS } from './order-fixtures.js';

export interface OrdersPage {
  readonly total_count: number;
  readonly orders: readonly OrderRecord[];
  readonly next_cursor: string | null;
}

/** Returns the order of a response, which contains no notice. */
export function orderIn(response: ApiResponse, status = 200): OrderRecord {
  expect([response.status, response.text]).toEqual([status, expect.anything()]);
  const body = response.json<{ readonly order: OrderRecord }>();
  expect(body).toEqual({ order: expect.anything(), compliance_notice: null });
  return body.order;
}

/** `errors` has the names of the invalid parameters. */
export function expectProblem(response: ApiResponse, status: number, errors: object = {}): void {
  const { 'content-type': type, 'request-id': requestId } = response.headers;
  expect([response.status, type]).toEqual([status, 'application/problem+json; charset=utf-8']);
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.json()).toMatchObject({ status, errors });
}
