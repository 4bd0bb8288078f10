import { afterAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { Images } from '../../../src/contexts/onboarding/identity/images.store.js';
import { eventually } from '../../support/eventually.js';
import { JPEG, jpegOf, pngOf } from '../../support/onboarding/images.js';
import { DETAILS, Widget, type Visitor } from '../../support/onboarding/widget-harness.js';

const LIMIT = 8 * 1_048_576;
const PNG = pngOf(300, 200);

const imagesOf = async ({ userId }: Visitor) =>
  widget.people.module.get(Images, { strict: false }).of(userId);
const statusOf = async (response: Promise<Response>): Promise<number> => (await response).status;

const widget = await Widget.start({ TRUST_PROXY: '127.0.0.1', RATE_LIMIT_PER_MINUTE: '10000' });
const visitor = await widget.visitor();
const session = await visitor.signIn();
expect((await visitor.step('details', DETAILS, session)).status).toBe(200);

describe('images of documents and faces (contract.md 18.10)', () => {
  afterAll(() => widget.close());

  it('are stored by their content', async () => {
    const called = { ...session, 'content-type': 'text/html; charset=utf-8' };
    const front = await visitor.upload('document_front', JPEG, called);
    expect([front.status, await front.json()]).toEqual([
      200,
      { stage: 'details_confirmed', images: ['document_front'] },
    ]);
    expect(front.headers.get('cache-control')).toBe('no-store');
    expect(await statusOf(visitor.upload('selfie', PNG, { ...session, 'content-type': 'image/jpeg' }))).toBe(
      200,
    );
    expect(await statusOf(visitor.upload('selfie', pngOf(200, 200), session))).toBe(200);
    expect(await imagesOf(visitor)).toEqual([
      { kind: 'document_front', type: 'image/jpeg', bytes: JPEG },
      { kind: 'selfie', type: 'image/png', bytes: pngOf(200, 200) },
    ]);
    expect(await (await visitor.step('state', {}, session)).json()).toEqual({
      stage: 'details_confirmed',
      images: ['document_front', 'selfie'],
    });
    const dumped = await widget.people.database.query<{ sealed: string }>(
      'select sealed from onboarding.images',
    );
    for (const { sealed } of dumped)
      for (const hidden of [JPEG.toString('base64'), JPEG.toString('hex')])
        expect(sealed).not.toContain(hidden.slice(40, 80));
  });

  it('415: must be JPEG or PNG. 422: must be complete and not too small', async () => {
    const refusals: [number, Buffer][] = [
      [415, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
      [415, Buffer.alloc(0)],
      [422, JPEG.subarray(0, 40)],
      [422, jpegOf(10, 10)],
    ];
    const before = await imagesOf(visitor);
    for (const [status, image] of refusals) {
      const response = await visitor.upload('document_back', image, session);
      expect([image.subarray(0, 20), response.status]).toEqual([image.subarray(0, 20), status]);
      const { errors } = (await response.json()) as { errors: object };
      expect(Object.keys(errors)).toEqual(status === 422 ? ['image'] : []);
    }
    expect(await imagesOf(visitor)).toEqual(before);
  });

  it('413: must be smaller than 8 MiB', async () => {
    const detail = { detail: `The request body must be smaller than ${LIMIT} bytes` };
    const ofBytes = (bytes: number): Buffer => Buffer.concat([JPEG], bytes);
    const announced = await visitor.upload('selfie', ofBytes(LIMIT), session);
    expect([announced.status, await announced.json()]).toMatchObject([413, detail]);
    expect(await statusOf(visitor.upload('selfie', ofBytes(LIMIT - 1), session))).toBe(200);
  });

  it('403: are refused without a session before the body is read', async () => {
    const other = await widget.visitor();
    for (const token of ['', session.authorization.slice(0, -1)])
      expect(await statusOf(visitor.upload('selfie', JPEG, { authorization: `Bearer ${token}` }))).toBe(403);
    expect(await statusOf(visitor.upload('selfie', JPEG))).toBe(403);
    const refused = await other.upload('selfie', JPEG, session);
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { errors: { session: ['has ended'] } },
    ]);
    const path = `/onboarding/${widget.merchantId}/${visitor.userId}/images/selfie`;
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 5000000\r\n\r\n`;
    expect(await firstLineOf(head)).toBe('HTTP/1.1 403 Forbidden');
    expect(await imagesOf(other)).toEqual([]);
  });

  it('404: are refused with an unknown kind or another method', async () => {
    for (const kind of ['passport', '__proto__', ''])
      expect([kind, await statusOf(visitor.upload(kind, JPEG, session))]).toEqual([kind, 404]);
    const path = `${widget.url}/onboarding/${widget.merchantId}/${visitor.userId}/images/selfie`;
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'])
      expect(await statusOf(fetch(path, { method, headers: session }))).toBe(404);
    const unknown = `${widget.url}/onboarding/${widget.merchantId}/x/images/selfie`;
    expect(await statusOf(fetch(unknown, { method: 'POST', headers: session, body: JPEG }))).toBe(404);
  });

  it('409: are refused once the identity check has begun', async () => {
    const late = await widget.visitor();
    const its = await late.signIn();
    expect(await statusOf(late.step('details', DETAILS, its))).toBe(200);
    expect(await statusOf(late.handIn(its))).toBe(200);
    const response = await late.upload('selfie', PNG, its);
    expect([response.status, await response.json()]).toMatchObject([409, { status: 409 }]);
    await eventually(async () => (await imagesOf(late)).length === 0);
  });

  it('429: are limited to 20 per user, from all addresses together', async () => {
    const [often, other] = [await widget.visitor(), await widget.visitor()];
    const [its, theirs] = [await often.signIn(), await other.signIn()];
    const from = (last: number) => ({ 'x-forwarded-for': `198.51.100.${last}` });
    const statuses: number[] = [];
    for (let n = 0; n < 21; n += 1)
      statuses.push(await statusOf(often.upload('selfie', JPEG, { ...its, ...from(6) })));
    expect(statuses).toEqual([...Array<number>(20).fill(200), 429]);
    const elsewhere = await often.upload('selfie', JPEG, { ...its, ...from(7) });
    expect([elsewhere.status, Number(elsewhere.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await statusOf(other.upload('selfie', JPEG, { ...theirs, ...from(6) }))).toBe(200);
  });
});

function firstLineOf(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(widget.url).port), '127.0.0.1', () => socket.write(request));
    socket.once('data', (data: Buffer) => {
      socket.destroy();
      resolve(data.toString().split('\r\n')[0]!);
    });
    socket.once('error', reject);
  });
}
