/** The reference of the start row: a service that only connects, queries and listens before it is ready. */
import fastify from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
await pool.query('select 1');
const app = fastify({ logger: false });
app.get('/health/ready', async () => {
  await pool.query('select 1');
  return { status: 'ok' };
});
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });

process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
