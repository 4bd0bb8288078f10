import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { BodyPipe } from '../src/platform/http/validation.js';
import { TransfersController } from './transfers.controller.js';
const T = (Reflect.getMetadata('design:paramtypes', TransfersController.prototype, 'create') as (new () => object)[])[0]!;
it.each([{ amount: [0] }, { amount: 0 }, { amount: {} }, { amount: [[]] }, { amount: ['1'] }, { to: [0], amount: '1' }, { to: '0x' + '1'.repeat(40), amount: [0] }, { to: {a:1}, amount: null },{ amount: true }])('%j', async (body) => {
  await expect(new BodyPipe(false).transform(body, { type: 'body', metatype: T })).rejects.toMatchObject({ code: 'validation_failed' });
});
