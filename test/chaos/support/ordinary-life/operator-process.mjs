/** Runs operators' programs of the build for the process that forked it: a process for each would take seconds to start. */
import 'reflect-metadata';

const { programOf } = await import('../../../../dist/src/operator.js');

process.on('disconnect', () => process.exit());
process.on('message', async ({ id, name, args, env }) => {
  let [printed, code] = ['', 0];
  try {
    const io = { env, print: (text) => (printed += `${text}\n`), exit: (requested) => (code = requested) };
    await (await programOf(name, io)).parseAsync(args, { from: 'user' });
  } catch (error) {
    [printed, code] = [printed + error.stack, code === 0 ? 1 : code];
  }
  process.send({ id, printed, code });
});
process.send('ready');
