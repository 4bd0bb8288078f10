import { beforeAll, describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { IssueSecret, RevokeSecret } from '../../../src/contexts/access/application/credentials.js';
import {
  RegisterMerchant,
  ReinstateMerchant,
  SuspendMerchant,
} from '../../../src/contexts/access/application/merchant-commands.js';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { SignedClient } from '../../support/http/signed-client.js';

/** A signed call that finds nothing: 404 says that the merchant was let in. */
const PATH = `/merchants/v1/users/${randomUUID()}`;

describe('merchants', () => {
  const app = onTestApp();
  let commands: CommandBus;

  beforeAll(() => {
    commands = app.app.get(CommandBus);
  });

  const statusFor = async (apiKey: string, privateKey: string): Promise<number> =>
    (await new SignedClient(app.url, { apiKey, privateKey }).get(PATH)).status;
  const becomes = (apiKey: string, privateKey: string, status: number): Promise<true> =>
    eventually(async () => (await statusFor(apiKey, privateKey)) === status);

  it('are let in with their key at once, and with two keys during a rotation', async () => {
    const { merchantId, secretId, secret, visible } = await commands.execute(new RegisterMerchant('Acme'));
    expect(visible).toBe(true);
    expect(await statusFor(merchantId, secret)).toBe(404);
    const second = await commands.execute(new IssueSecret('api_key', merchantId));
    await becomes(merchantId, second.secret, 404);
    expect(await statusFor(merchantId, secret)).toBe(404);
    await expect(commands.execute(new IssueSecret('api_key', merchantId))).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    await commands.execute(new RevokeSecret('api_key', merchantId, secretId));
    await becomes(merchantId, secret, 401);
    expect(await statusFor(merchantId, second.secret)).toBe(404);
  });

  it('get 403 while suspended', async () => {
    const { merchantId, secret } = await commands.execute(new RegisterMerchant('Acme'));
    await commands.execute(new SuspendMerchant(merchantId));
    await becomes(merchantId, secret, 403);
    await commands.execute(new ReinstateMerchant(merchantId));
    await becomes(merchantId, secret, 404);
  });

  it("keep their private keys out of the database, and do not get in with another merchant's", async () => {
    const [one, two] = [
      await commands.execute(new RegisterMerchant('One')),
      await commands.execute(new RegisterMerchant('Two')),
    ];
    expect(await statusFor(one.merchantId, two.secret)).toBe(401);
    const rows = await app.database.query<{ text: string }>(
      `select (select string_agg(k::text, ' ') from access.secrets k) ||
              (select string_agg(e::text, ' ') from event_store.events e) as text`,
    );
    expect(rows[0]!.text).toContain(one.secretId);
    expect(rows[0]!.text).not.toContain(one.secret.slice(4));
  });
});
