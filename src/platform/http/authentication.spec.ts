import { expect, it } from '@jest/globals';
import { Authentications, type Authentication } from './authentication.js';

it('requests under the path of an API are authenticated; other paths are open', () => {
  const authentications = new Authentications();
  const [one, two] = ['/v1', '/merchants/v1'].map((prefix) => ({ prefix }) as Authentication);
  authentications.register(one!);
  authentications.register(two!);
  expect(['/v1', '/v1/', '/v1/orders'].map((path) => authentications.of(path))).toEqual([one, one, one]);
  expect(authentications.of('/merchants/v1/users')).toBe(two);
  for (const path of ['/v12', '/', '/x/v1/', '/docs']) expect(authentications.of(path)).toBeNull();
});
