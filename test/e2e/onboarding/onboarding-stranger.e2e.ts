import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxSms } from '../../../src/contexts/onboarding/adapters/sandbox-providers.js';
import { Widget, type Visitor } from '../../support/onboarding/widget-harness.js';

/** The phones of all people: every message that came. */
class Phones extends SandboxSms {
  static readonly messages = new Map<string, string[]>();

  /** For how long their delivery is attempted, by the lengths of their codes. */
  static readonly validSeconds = new Map<number, number>();

  override async send(
    phone: string,
    message: { readonly code: string; readonly validSeconds: number },
  ): Promise<void> {
    Phones.validSeconds.set(message.code.length, message.validSeconds);
    Phones.messages.set(phone, [...(Phones.messages.get(phone) ?? []), message.code]);
    await super.send(phone, message);
  }
}

let addresses = 0;
/** Headers of a request from another address than all before. */
const elsewhere = (): Record<string, string> => {
  addresses += 1;
  return { 'x-forwarded-for': `198.51.${100 + (addresses >> 8)}.${addresses & 255}` };
};

describe('a stranger with the link of a person', () => {
  let widget: Widget;
  beforeAll(async () => {
    widget = await Widget.start({ TRUST_PROXY: '127.0.0.1', RATE_LIMIT_PER_MINUTE: '10000' }, (builder) =>
      builder.overrideProvider(SandboxSms).useClass(Phones),
    );
  });
  afterAll(() => widget?.close());

  const inboxOf = ({ phone }: Visitor): readonly string[] => Phones.messages.get(phone) ?? [];
  /** Requests codes and guesses five of each, from `from()`; gives how many guesses were evaluated. */
  const attack = async (
    visitor: Visitor,
    codes: number,
    from: () => Record<string, string>,
  ): Promise<number> => {
    let evaluated = 0;
    for (let sent = 0; sent < codes; sent += 1) {
      const [browser, headers] = [randomBytes(16).toString('hex'), from()];
      const body = { phone_number: visitor.phone, browser };
      await visitor.step('code', body, headers);
      const right = inboxOf(visitor).at(-1) ?? '';
      for (let guess = 0, left = 5; guess < 6; guess += 1) {
        const code = String((Number(right) + 1 + guess) % 1_000_000).padStart(6, '0');
        const response = await visitor.step('phone', { ...body, code }, headers);
        expect([422, 429]).toContain(response.status);
        // What is not evaluated leaves no fewer.
        const { attempts_left = left } = (await response.json()) as { attempts_left?: number };
        if (attempts_left === left - 1) evaluated += 1;
        left = attempts_left;
      }
    }
    return evaluated;
  };
  /** What the person does: requests a code, and enters the last one that the phone got. */
  const signsUp = async (visitor: Visitor, from: Record<string, string>): Promise<number> => {
    const requested = await visitor.step('code', { phone_number: visitor.phone }, from);
    expect([200, 429]).toContain(requested.status);
    const long = inboxOf(visitor).filter((code) => code.length > 6);
    const code = requested.status === 200 ? inboxOf(visitor).at(-1) : long.at(-1);
    return (await visitor.step('phone', { phone_number: visitor.phone, code }, from)).status;
  };

  it.each([
    ['one address: the person signs up from another one', false, false],
    ['the address of the person, who signs up', false, true],
    ['six addresses: the person signs up', true, false],
  ])('requests six codes and guesses thirty times from %s', async (_, moves, isShared) => {
    const visitor = await widget.visitor();
    const address = elsewhere();
    await attack(visitor, 6, moves ? elsewhere : () => address);
    expect(await signsUp(visitor, isShared ? address : elsewhere())).toBe(200);
    if (!moves && !isShared) expect(inboxOf(visitor).at(-1)).toMatch(/^[0-9]{6}$/);
  });

  it('requests as many codes as there are from a hundred addresses: ten messages, thirty guesses, and the person gets in again and again', async () => {
    const visitor = await widget.visitor();
    expect(await attack(visitor, 100, elsewhere)).toBe(30);
    expect(inboxOf(visitor)).toHaveLength(10);
    expect(Object.fromEntries(Phones.validSeconds)).toEqual({ 6: 600, 23: 36_000 });
    const here = elsewhere();
    for (let visit = 0; visit < 3; visit += 1) expect(await signsUp(visitor, here)).toBe(200);
    expect(inboxOf(visitor)).toHaveLength(10);
  });

  it('does not use up the tries of the code that the person requested', async () => {
    const visitor = await widget.visitor();
    const here = elsewhere();
    expect((await visitor.step('code', { phone_number: visitor.phone }, here)).status).toBe(200);
    const [code] = inboxOf(visitor);
    const wrong = code === '000000' ? '000001' : '000000';
    for (let guess = 0; guess < 30; guess += 1) {
      const body = {
        phone_number: visitor.phone,
        code: guess === 29 ? code : wrong,
        browser: randomBytes(16).toString('hex'),
      };
      const response = await visitor.step('phone', body, elsewhere());
      expect([response.status, await response.json()]).toMatchObject([422, { attempts_left: 0 }]);
    }
    await attack(visitor, 3, elsewhere);
    expect((await visitor.step('phone', { phone_number: visitor.phone, code }, here)).status).toBe(200);
  });

  it('cannot leave out the nonce', async () => {
    const visitor = await widget.visitor();
    for (const browser of [undefined, null, '', 'g'.repeat(32), 'a'.repeat(31), 'a'.repeat(65)]) {
      const body = { phone_number: visitor.phone, code: '000000', browser };
      for (const step of ['code', 'phone']) expect((await visitor.step(step, body)).status).toBe(422);
    }
    expect(inboxOf(visitor)).toEqual([]);
  });
});
