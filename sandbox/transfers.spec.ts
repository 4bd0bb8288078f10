import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { BodyPipe } from '../src/platform/http/decorators.js';
import { TransfersController } from './transfers.controller.js';

const [metatype] = Reflect.getMetadata(
  'design:paramtypes',
  TransfersController.prototype,
  'create',
) as (new () => object)[];
const TO = `0x${'1'.repeat(40)}`;

describe('a sandbox transfer with a field of a wrong type', () => {
  it.each([
    { to: TO, amount: ['1'] },
    { to: TO, amount: 0 },
    { to: TO, amount: null },
    { to: [TO], amount: '1' },
  ])('is refused: %j', async (body) => {
    const transformed = new BodyPipe(false).transform(body, { type: 'body', metatype: metatype! });
    await expect(transformed).rejects.toMatchObject({ code: 'validation_failed' });
  });
});
