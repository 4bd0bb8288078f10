import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Post } from '@nestjs/common';
import { ApiRoute } from '../../openapi/route.js';
import { ApiGuard, Public, requireGuards } from '../api.guard.js';
import { Reads } from '../reads.js';
import type { MemoryBudget } from '../request-body.js';
import { BodyPipe } from '../decorators.js';
import { AdminController } from './admin.guard.js';
import { PortalController, PortalRoute, PortalScopes } from './portal.guard.js';
import { WriteBody } from './writes.js';

const words = { id: 'x', tag: 'x', summary: 'x', responses: {} };

class Routes {
  @Get()
  @ApiRoute({ ...words, scopes: ['payouts:read', 'users:read'] })
  @Reads({ view: null, lookup: null })
  read() {}

  @Post()
  @ApiRoute({ ...words, scopes: [] })
  write() {}
}

describe('the check of routes at boot', () => {
  it('refuses an admin route that declares no scopes', () => {
    class Undeclared {
      @Get()
      @ApiRoute(words)
      read() {}
    }
    expect(() => AdminController('things')(Undeclared)).toThrow('Undeclared.read declares no scopes');
    expect(() => AdminController('things')(Routes)).not.toThrow();
  });

  it('refuses an admin GET without @Reads, but accepts a portal GET without it', () => {
    class Undeclared {
      @Get()
      @ApiRoute({ ...words, scopes: [] })
      read() {}
    }
    expect(() => AdminController('things')(Undeclared)).toThrow('Undeclared.read declares no reads');
    class Portal {
      @Get()
      @PortalScopes()
      read() {}
    }
    expect(() => PortalController('things')(Portal)).not.toThrow();
    expect(() => PortalController('things')(Undeclared)).toThrow('Undeclared.read declares no scopes');
  });

  it('refuses an admin route in the portal if it is a write, or a read without a lookup', () => {
    class Unconfined {
      @Get()
      @PortalRoute('things', 'payouts:read')
      @ApiRoute({ ...words, scopes: [] })
      @Reads({ view: null, lookup: null })
      read() {}
    }
    class Written {
      @Post()
      @PortalRoute('things', 'payouts:write')
      @ApiRoute({ ...words, scopes: [] })
      write() {}
    }
    expect(() => AdminController('things')(Unconfined)).toThrow('Unconfined.read is a shared route');
    expect(() => AdminController('things')(Written)).toThrow('Written.write is a shared route');
  });

  it('refuses a route that is neither public nor under a guarded API, even if the portal shares it', () => {
    class Api extends ApiGuard {
      identify = () => Promise.reject(new Error());
    }
    const apis = [new Api('/merchants/v1', {} as MemoryBudget)];
    @Controller('merchants/v1/things')
    class Covered extends Routes {}
    @Public()
    @Controller('things')
    class Declared extends Routes {}
    @Controller('merchants/v10/things')
    class Uncovered {
      @Get([':id'])
      @PortalRoute('things', 'payouts:read')
      read() {}
    }
    expect(() => requireGuards([Covered, Declared], apis)).not.toThrow();
    expect(() => requireGuards([Covered, Uncovered], apis)).toThrow('Uncovered.read has no guard');
  });
});

describe('the body of an admin write', () => {
  const read = async (body: unknown): Promise<unknown> =>
    new BodyPipe(false).transform(body, { type: 'body', metatype: WriteBody });

  it.each([
    [
      { reason: '  fraud report ', ticket: 'OPS-1' },
      { reason: 'fraud report', ticket: 'OPS-1' },
    ],
    [
      { reason: 'abc', ticket: null },
      { reason: 'abc', ticket: null },
    ],
    [{ reason: '💶'.repeat(500) }, { reason: '💶'.repeat(500) }],
  ])('%j is accepted, and its reason is trimmed', async (body, expected) => {
    expect(await read(body)).toEqual(expected);
  });

  it.each([
    [{}, { reason: ['is required'] }],
    [{ reason: ' ab ' }, { reason: ['must have 3 to 500 characters'] }],
    [{ reason: 'x'.repeat(501) }, { reason: ['must have 3 to 500 characters'] }],
    [{ reason: 'line\nfeed' }, { reason: ['must not contain control characters'] }],
    [
      { reason: 7, ticket: '' },
      { reason: ['must be a string'], ticket: ['must have 1 to 255 characters'] },
    ],
  ])('%j is refused with an error for each invalid field', async (body, fields) => {
    await expect(read(body)).rejects.toMatchObject({ code: 'validation_failed', fields });
  });
});
