// @ts-check
/**
 * Let one tab judge a batch. Another one looks on, and takes over when the first is closed.
 * @param {string} batch
 * @returns {Promise<boolean>} whether this tab judges
 */
export async function lockBatch(batch) {
  if (!navigator.locks) return true;
  return new Promise((resolve) => {
    void navigator.locks.request(`venire ${batch}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      if (lock) return new Promise(() => {});
      void navigator.locks.request(`venire ${batch}`, () => {
        window.location.reload();
        return new Promise(() => {});
      });
      return undefined;
    });
  });
}
