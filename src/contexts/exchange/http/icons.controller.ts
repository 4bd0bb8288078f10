import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { icon } from '../application/icons.js';

/** For pages of merchants and the pay widget: nothing in an SVG may run or load, wherever it is opened. */
const HEADERS = {
  'content-type': 'image/svg+xml; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
};

/** Throws `not_found`. */
export function sendIcon(name: string, reply: FastifyReply): FastifyReply {
  const svg = icon(name);
  if (svg === null) throw DomainError.notFound('Icon');
  return reply.headers(HEADERS).send(svg);
}

/** The pictures that `icon_url` names (contract.md 25.1). */
@Controller('icons')
export class IconsController {
  @Get(':file')
  file(@Param('file') name: string, @Res() reply: FastifyReply): void {
    sendIcon(name, reply);
  }
}
